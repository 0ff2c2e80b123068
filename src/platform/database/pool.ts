import pg from 'pg';
import type { DatabaseRole } from './roles.js';

export interface PoolOptions {
  /** Connection string, e.g. `postgresql://user:password@host:5432/database?sslmode=verify-full`. */
  readonly url: string;
  /** The role that every connection takes on; without it the login user's own rights apply (migrations). */
  readonly role?: DatabaseRole;
  /** Seen in `pg_stat_activity`, e.g. `consent-ledger api`. */
  readonly applicationName: string;
  readonly maxConnections: number;
  /** Milliseconds after which PostgreSQL cancels a statement; 0: never. */
  readonly statementTimeoutMs: number;
  /** Told of connections that break while nobody uses them; the pool replaces them by itself. */
  readonly onIdleError: (error: Error) => void;
}

const INT8_OID = 20;
const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TRANSACTION_TIMEOUT_MS = 60_000;

/**
 * Makes a pool of connections. `bigint` columns come as numbers (beyond 2^53 - 1 the query fails rather than round);
 * `timestamptz` as `Date`, `bytea` as `Buffer`, `numeric` as text. Connects on first use.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.role === undefined ? options.url : withRole(options.url, options.role),
    application_name: options.applicationName,
    max: options.maxConnections,
    statement_timeout: options.statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser },
  });
  pool.on('error', options.onIdleError);
  // A server that is going down may greet and dismiss a client in one packet, before anybody else listens to it.
  pool.on('connect', (db) => db.on('error', () => undefined));
  return pool;
}

/** The role travels as a start-up option of the connection; options that the URL brings along are kept. */
export function withRole(url: string, role: DatabaseRole): string {
  const parsed = new URL(url);
  const existing = parsed.searchParams.get('options');
  parsed.searchParams.set('options', `${existing === null ? '' : `${existing} `}-c role=${role}`);
  return parsed.toString();
}

const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === INT8_OID && format !== 'binary' ? parseInt8 : pg.types.getTypeParser(oid, format);

/** @throws RangeError for values that a JavaScript number cannot hold exactly */
export function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is beyond the safe integers`);
  return value;
}

/** A pool, or a connection within a transaction: work that is given one becomes part of that transaction. */
export type Queryable = pg.Pool | pg.PoolClient;

export interface TransactionOptions {
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable';
}

/**
 * Runs `work` in one transaction: committed if it resolves, rolled back if it throws. The connection goes back to the
 * pool, or is closed where the rollback failed too. Given a connection, it joins the transaction that runs there.
 * @throws what `work` or the commit throws
 */
export async function withTransaction<T>(
  db: Queryable,
  work: (db: pg.PoolClient) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  if (!(db instanceof pg.Pool)) return work(db);
  const client = await db.connect();
  let broken: Error | undefined;
  // A connection that breaks between two statements says so by this event, which would else end the process.
  const onError = (error: Error): void => {
    broken = error;
  };
  client.on('error', onError);
  try {
    await client.query(`BEGIN ISOLATION LEVEL ${options.isolation ?? 'read committed'}`);
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((rollbackError: unknown) => {
      broken = rollbackError instanceof Error ? rollbackError : new Error(String(rollbackError));
    });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}
