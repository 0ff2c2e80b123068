/** One authority gave no good token. The message says why, fit for a log. */
export class AuthorityFailure extends Error {
  override readonly name = 'AuthorityFailure';
}

/** No authority gave a good token. Nothing was lost: ask again at `retryAt`. */
export class TimestampUnavailable extends Error {
  override readonly name = 'TimestampUnavailable';
  constructor(
    /** Empty if every authority is in its pause. */
    readonly failures: readonly { readonly authority: string; readonly reason: string }[],
    readonly retryAt: Date,
  ) {
    const reasons = failures.map(({ authority, reason }) => `${authority} ${reason}`).join('; ');
    super(reasons === '' ? `every authority pauses until ${retryAt.toISOString()}` : `no time stamp: ${reasons}`);
  }
}
