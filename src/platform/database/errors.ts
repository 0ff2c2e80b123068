import pg from 'pg';

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

/** The database is not the one with which the process started, or it went back in time. */
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

const UNDEFINED_TABLE = '42P01';

/** Whether a statement failed because a table or view that it names does not exist. */
export function lacksTable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === UNDEFINED_TABLE;
}

/** @returns the error for a server that does not accept writes */
export function standbyReached(): DatabaseSetupError {
  return new DatabaseSetupError('standby', 'The server of DATABASE_URL is a standby: it accepts no writes.');
}

/**
 * Classes and codes of PostgreSQL (appendix A of its manual) for a server that cannot be used now:
 * connection exceptions, too many connections, a server that stops, crashed or starts, or that ended an
 * idle session.
 */
const SQLSTATES = /^(?:08...|53300|57P0[1235])$/;
const SOCKET_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);
/** Messages of `pg` and its pool, which give these errors no code. */
const MESSAGES =
  /^(?:Connection terminated|timeout exceeded when trying to connect$|Client (?:has encountered a connection error|was closed) and is not queryable$)/;

/** Message of the error with which `pg` rejects a statement that was not answered in time. */
const NO_ANSWER = 'Query read timeout';

/** Returns whether the server failed to answer a statement in time. The statement may still run there. */
export function isWithoutAnswer(error: unknown): error is Error {
  return error instanceof Error && error.message === NO_ANSWER;
}

/**
 * Returns whether a statement failed because the connection to the database failed or could not be established. The
 * outcome of a COMMIT that failed in this way is unknown; everything else may be retried.
 */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ServerChanged) return true;
  if (error instanceof pg.DatabaseError) return SQLSTATES.test(error.code ?? '');
  const code = 'code' in error ? String(error.code) : '';
  return SOCKET_CODES.has(code) || MESSAGES.test(error.message) || isWithoutAnswer(error);
}

/** Returns whether a statement failed because a row with the same key exists. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505';
}

const LOCK_NOT_AVAILABLE = '55P03';
const COLLISIONS: ReadonlySet<string | undefined> = new Set(['40001', '40P01', LOCK_NOT_AVAILABLE]);

/**
 * Returns whether a step collided with a running process, or with the migration of another database:
 * all databases of a server share the roles, but the lock of the migrations covers only one database.
 */
export function isCollision(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return COLLISIONS.has(error.code) || /tuple concurrently (updated|deleted)/.test(error.message);
}

/** Returns whether a step waited too long for a lock of another session. */
export function isLocked(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;
}

/** Codes of Node.js for a certificate of the server that cannot be verified. */
const CODES: ReadonlySet<string> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/**
 * Returns what to write in `DATABASE_URL` if the certificate of the server was refused, or null for any other error.
 * With `sslmode=require`, libpq does not verify the certificate, so a connection string that works with `psql` can fail
 * here.
 */
export function certificateHint(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (!CODES.has(code)) return null;
  return (
    'The service verifies the certificate of the server also with sslmode=require, with which libpq only encrypts. ' +
    'Name the file of the authority that issued it in DATABASE_URL: sslmode=verify-full&sslrootcert=/path/root.crt, and ' +
    'connect by a name that is in the certificate. To encrypt without any verification, write sslmode=no-verify.'
  );
}
