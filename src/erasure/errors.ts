/** The site does not exist. */
export class UnknownSite extends Error {
  override readonly name = 'UnknownSite';
  constructor(readonly siteId: string) {
    super(`There is no site ${siteId}.`);
  }
}

/**
 * The erasure journal cannot be written or read. Nothing is erased then, because a restore could
 * bring it back.
 */
export class JournalUnavailable extends Error {
  override readonly name = 'JournalUnavailable';
}
