import pg from 'pg';
import { ServerChanged } from './errors.js';

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

/** Message of the error with which `pg` rejects a statement whose answer did not come in time. */
const NO_ANSWER = 'Query read timeout';

/** Whether the server did not answer a statement in time. It may still run there. */
export function isWithoutAnswer(error: unknown): error is Error {
  return error instanceof Error && error.message === NO_ANSWER;
}

/**
 * Whether a statement failed because the connection to the database failed, or could not be made.
 * Nothing is known about a COMMIT that failed in this way; everything else may be tried again.
 */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof ServerChanged) return true;
  if (error instanceof pg.DatabaseError) return SQLSTATES.test(error.code ?? '');
  const code = 'code' in error ? String(error.code) : '';
  return SOCKET_CODES.has(code) || MESSAGES.test(error.message) || isWithoutAnswer(error);
}
