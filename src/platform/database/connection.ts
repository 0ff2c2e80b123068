import pg from 'pg';
import type { ServerBinding } from './server-binding.js';
import { prepareSession, type SessionStep } from './session.js';
import { type SessionOptions, sessionSettings } from './session-settings.js';

/** Settings of a connection, and its steps before the first use. */
export interface ConnectionOptions extends SessionOptions {
  /** Connection string, e.g. `postgresql://user:password@host:5432/database?sslmode=verify-full`. */
  readonly url: string;
  /** Shown in `pg_stat_activity`, e.g. `consent-ledger api`. */
  readonly applicationName: string;
  /** Milliseconds that connecting may take; 10,000 if it is not given. */
  readonly connectTimeoutMs?: number;
  /** Steps that each new connection runs after its settings are set and checked. */
  readonly sessionSteps?: readonly SessionStep[];
  /** The server that every connection of the process must reach. */
  readonly server?: ServerBinding;
}

const INT8_OID = 20;
const CONNECT_TIMEOUT_MS = 10_000;
/** How much longer than the server's own limit a statement may stay unanswered. */
const ANSWER_MARGIN_MS = 5_000;

/**
 * Returns the configuration of a connection. It holds no setting of the session: a pooler refuses
 * start-up parameters, or drops them in silence (`prepareConnection` sets them). A statement that is
 * not answered five seconds after `statementTimeoutMs` rejects.
 */
export function connectionConfig(options: ConnectionOptions): pg.ClientConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName,
    // A host that vanished answers nothing, and TCP alone would wait for a quarter of an hour.
    ...(options.statementTimeoutMs > 0 && { query_timeout: options.statementTimeoutMs + ANSWER_MARGIN_MS }),
    connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser },
  };
}

/**
 * Prepares a new connection for its first use, in one round trip. `createPool` does this itself; a
 * `pg.Client` of `connectionConfig` needs it after `connect`.
 * @throws DatabaseSetupError `session_refused`, `session_differs`; any error of `sessionSteps` and of the connection
 */
export async function prepareConnection(client: pg.ClientBase, options: ConnectionOptions): Promise<void> {
  const bound = options.server === undefined ? [] : [options.server.step];
  await prepareSession(client, [...sessionSettings(options), ...bound, ...(options.sessionSteps ?? [])]);
}

const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === INT8_OID && format !== 'binary' ? parseInt8 : pg.types.getTypeParser(oid, format);

/** @throws RangeError for values that a JavaScript number cannot represent exactly */
export function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is beyond the safe integers`);
  return value;
}
