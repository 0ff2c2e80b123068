/** Defects of a database that prevent the start of the service. */
export type DatabaseErrorCode =
  | 'unsafe_server'
  | 'standby'
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
  | 'transaction_pooling'
  | 'too_few_connections';

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

/** @returns the refusal of a server that accepts no writes */
export function standbyReached(): DatabaseSetupError {
  return new DatabaseSetupError('standby', 'The server of DATABASE_URL is a standby: it accepts no writes.');
}
