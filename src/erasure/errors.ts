/** There is no such site. */
export class UnknownSite extends Error {
  override readonly name = 'UnknownSite';
  constructor(readonly siteId: string) {
    super(`There is no site ${siteId}.`);
  }
}

/** The erasure journal cannot be written or read: nothing is erased, because a restore could bring it back. */
export class JournalUnavailable extends Error {
  override readonly name = 'JournalUnavailable';
}
