/** Defects of a database that prevent the start of the service. */
export type DatabaseErrorCode =
  | 'unsafe_server'
  | 'unsupported_version'
  | 'roles_not_permitted'
  | 'migration_changed'
  | 'migration_unknown'
  | 'migration_failed'
  | 'migration_needs_stop'
  | 'not_migrated'
  | 'rights_missing'
  | 'unreachable'
  | 'session_refused'
  | 'session_differs'
  | 'transaction_pooling';

/** The database is not the one on which the process began, or not as far as it was. */
export class ServerChanged extends Error {
  override readonly name = 'ServerChanged';
}

/** The database cannot be used by the service. `message` tells the operator what to do. */
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
