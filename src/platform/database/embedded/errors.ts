/** What can go wrong with the embedded Postgres, for callers that want to tell the cases apart. */
export type EmbeddedPostgresErrorCode =
  | 'unsupported_platform'
  | 'binaries_missing'
  | 'no_unprivileged_account'
  | 'state_invalid'
  | 'lock_timeout'
  | 'initdb_failed'
  | 'version_mismatch'
  | 'start_failed'
  | 'stop_failed'
  | 'access_denied'
  | 'in_use';

/** A failure of the embedded Postgres. `message` is meant for the operator and says what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  constructor(
    readonly code: EmbeddedPostgresErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
