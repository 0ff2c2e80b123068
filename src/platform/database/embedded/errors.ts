/** Failures of the embedded PostgreSQL that callers can distinguish. */
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

/** A failure of the embedded PostgreSQL. `message` tells the operator what to do. */
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
