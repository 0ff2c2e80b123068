import pg from 'pg';
import * as z from 'zod';
import { addressesOf } from '../net/addresses.js';
import { DatabaseSetupError, isConnectionFailure, ServerChanged, standbyReached } from './errors.js';
import type { ServerBinding } from './server-binding.js';
import { prepareSession, type SessionOptions, type SessionStep, sessionSettings } from './session.js';

/** Settings of a connection, and its steps before the first use. */
export interface ConnectionOptions extends SessionOptions {
  /**
   * Connection string, e.g. `postgresql://user:password@host:5432/database?sslmode=verify-full`. If it names several
   * hosts, the first one that accepts writes is used.
   */
  readonly url: string;
  /** Shown in `pg_stat_activity`; the service uses `programName`. */
  readonly applicationName: string;
  /** Maximum time to connect, in milliseconds; 10,000 if omitted. */
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
 * Returns the configuration of a connection. It contains no session settings, because poolers refuse start-up
 * parameters or silently drop them; `prepareConnection` sets them. A statement rejects if it is not answered within
 * five seconds after `statementTimeoutMs`.
 * @param turn number of the host to use: 0 is the first one, and numbers beyond the last wrap around
 */
export function connectionConfig(options: ConnectionOptions, turn = 0): pg.ClientConfig {
  const addresses = addressesOf(options.url);
  return {
    connectionString: addresses[turn % addresses.length],
    application_name: options.applicationName,
    // A vanished host never answers, and TCP alone would wait for a quarter of an hour.
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
  const mayBeStandby = addressesOf(options.url).length > 1;
  const bound = options.server?.step ?? (mayBeStandby ? REFUSE_STANDBY : null);
  await prepareSession(client, [
    ...sessionSettings(options),
    ...(bound === null ? [] : [bound]),
    ...(options.sessionSteps ?? []),
  ]);
}

/**
 * Makes closing a connection independent of the server. After its last message, the driver would wait until the server
 * closes the socket, which a hanging server never does.
 * @param client a connected client
 */
export function closeAfterLastMessage({ connection: { stream } }: pg.Client): void {
  stream.once('finish', () => stream.destroy());
}

const StandbyRows = z.tuple([z.object({ is_standby: z.boolean() })]);

const REFUSE_STANDBY: SessionStep = {
  sql: 'select pg_is_in_recovery() as is_standby',
  accept: (rows) => {
    if (StandbyRows.parse(rows)[0].is_standby) throw standbyReached();
  },
};

/** Returns whether another host of the connection string may be the one that accepts writes. */
export function leadsElsewhere(error: unknown): boolean {
  if (error instanceof ServerChanged) return false;
  return isConnectionFailure(error) || (error instanceof DatabaseSetupError && error.code === 'standby');
}

/**
 * Connects without a pool, and prepares the connection. The caller ends it.
 * @throws as `prepareConnection`; with several hosts, the error of the last one
 */
export async function connectClient(options: ConnectionOptions): Promise<pg.Client> {
  const last = addressesOf(options.url).length - 1;
  for (let turn = 0; ; turn += 1) {
    const client = new pg.Client(connectionConfig(options, turn));
    // If the connection is lost, the statement that needs it rejects.
    client.on('error', () => undefined);
    try {
      await client.connect();
      closeAfterLastMessage(client);
      await prepareConnection(client, options);
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (turn === last || !leadsElsewhere(error)) throw error;
    }
  }
}

const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === INT8_OID && format !== 'binary' ? parseInt8 : pg.types.getTypeParser(oid, format);

/** @throws RangeError for values that a JavaScript number cannot represent exactly */
export function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is beyond the safe integers`);
  return value;
}
