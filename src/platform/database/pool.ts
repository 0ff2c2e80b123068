import pg from 'pg';
import { isWithoutAnswer } from './connection-failure.js';
import type { DatabaseRole } from './roles.js';

export interface PoolOptions {
  /** Connection string, e.g. `postgresql://user:password@host:5432/database?sslmode=verify-full`. */
  readonly url: string;
  /** Role of every connection. Without it the rights of the login user apply (migrations). */
  readonly role?: DatabaseRole;
  /** Shown in `pg_stat_activity`, e.g. `consent-ledger api`. */
  readonly applicationName: string;
  readonly maxConnections: number;
  /**
   * Milliseconds after which PostgreSQL cancels a statement; 0: never. A statement that is not answered
   * five seconds later rejects, and its connection is closed.
   */
  readonly statementTimeoutMs: number;
  /** Receives errors of idle connections. The pool replaces these connections. */
  readonly onIdleError: (error: Error) => void;
  readonly transactions?: TransactionHooks;
}

/** What each transaction of `withTransaction` does beside its work. It rolls back if this fails. */
export interface TransactionHooks {
  /** SQL without parameters, directly after BEGIN. */
  readonly begin: string;
  readonly beforeCommit: (db: pg.PoolClient) => Promise<void>;
}

class LedgerPool extends pg.Pool {
  constructor(
    config: pg.PoolConfig,
    readonly transactions: TransactionHooks | undefined,
  ) {
    super(config);
  }
}

const INT8_OID = 20;
const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TRANSACTION_TIMEOUT_MS = 60_000;
/** How much longer than the server's own limit a statement may stay unanswered. */
const ANSWER_MARGIN_MS = 5_000;

/**
 * Creates a connection pool that connects on first use. `bigint` columns become numbers; beyond
 * 2^53 - 1 the query fails instead of rounding. `timestamptz` becomes `Date`, `bytea` becomes
 * `Buffer`, and `numeric` becomes text.
 */
export function createPool(options: PoolOptions): pg.Pool {
  const config = {
    connectionString: options.role === undefined ? options.url : withRole(options.url, options.role),
    application_name: options.applicationName,
    max: options.maxConnections,
    statement_timeout: options.statementTimeoutMs,
    // A host that vanished answers nothing, and TCP alone would wait for a quarter of an hour.
    ...(options.statementTimeoutMs > 0 && { query_timeout: options.statementTimeoutMs + ANSWER_MARGIN_MS }),
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: { getTypeParser },
  };
  const pool = new LedgerPool(config, options.transactions);
  pool.on('error', options.onIdleError);
  // A server that shuts down may greet and dismiss a client in one packet, before any other
  // listener is registered.
  pool.on('connect', (db) => db.on('error', () => undefined));
  return pool;
}

/**
 * Returns the URL with the role as a start-up option of the connection. Options in the URL are
 * kept.
 */
export function withRole(url: string, role: DatabaseRole): string {
  const parsed = new URL(url);
  const existing = parsed.searchParams.get('options');
  parsed.searchParams.set('options', `${existing === null ? '' : `${existing} `}-c role=${role}`);
  return parsed.toString();
}

const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === INT8_OID && format !== 'binary' ? parseInt8 : pg.types.getTypeParser(oid, format);

/** @throws RangeError for values that a JavaScript number cannot represent exactly */
export function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is beyond the safe integers`);
  return value;
}

/**
 * A pool, or a connection within a transaction. A function that receives a connection becomes part
 * of its transaction.
 */
export type Queryable = pg.Pool | pg.PoolClient;

export interface TransactionOptions {
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable';
  /**
   * `flushed`: the commit waits for the disk, as the server is set up. `redone`: it does not, because
   * a record that is on the disk already is enough to do the work again after a crash of the server.
   */
  readonly durability?: 'flushed' | 'redone';
}

/**
 * Runs `work` in one transaction, which commits if `work` resolves and rolls back if it throws. The
 * connection returns to the pool; it is closed if the rollback failed too. If `db` is a connection,
 * `work` joins its transaction.
 * @throws any error of `work` or of the commit
 */
export async function withTransaction<T>(
  db: Queryable,
  work: (db: pg.PoolClient) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  if (!(db instanceof pg.Pool)) return work(db);
  const hooks = db instanceof LedgerPool ? db.transactions : undefined;
  const client = await db.connect();
  let broken: Error | undefined;
  // A connection that breaks between two statements emits this event. Without a listener it would
  // end the process.
  const onError = (error: Error): void => {
    broken = error;
  };
  client.on('error', onError);
  try {
    // One message: the first statement costs no round trip of its own.
    const durability = options.durability === 'redone' ? 'SET LOCAL synchronous_commit = off; ' : '';
    await client.query(
      `BEGIN ISOLATION LEVEL ${options.isolation ?? 'read committed'}; ${durability}${hooks?.begin ?? ''}`,
    );
    const result = await work(client);
    await hooks?.beforeCommit(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection that does not answer is closed, which rolls back, too.
    if (isWithoutAnswer(error)) broken = error;
    else
      await client.query('ROLLBACK').catch((rollbackError: unknown) => {
        broken = rollbackError instanceof Error ? rollbackError : new Error(String(rollbackError));
      });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}
