/** One authority returned no valid token. The message states the reason and is safe to log. */
export class AuthorityFailure extends Error {
  override readonly name = 'AuthorityFailure';
}

/** No authority returned a valid token. Retry at `retryAt`. */
export class TimestampUnavailable extends Error {
  override readonly name = 'TimestampUnavailable';
  constructor(
    /** Empty if every authority is paused. */
    readonly failures: readonly { readonly authority: string; readonly reason: string }[],
    readonly retryAt: Date,
  ) {
    const reasons = failures.map(({ authority, reason }) => `${authority} ${reason}`).join('; ');
    super(reasons === '' ? `every authority pauses until ${retryAt.toISOString()}` : `no time stamp: ${reasons}`);
  }
}
