/** What can be wrong with a database before the service may use it. */
export type DatabaseErrorCode =
  | 'unsafe_server'
  | 'unsupported_version'
  | 'roles_not_permitted'
  | 'migration_changed'
  | 'migration_unknown'
  | 'migration_failed'
  | 'not_migrated'
  | 'unreachable';

/** The database is not fit for the service. `message` is meant for the operator and says what to do. */
export class DatabaseSetupError extends Error {
  override readonly name = 'DatabaseSetupError';

  constructor(
    readonly code: DatabaseErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
