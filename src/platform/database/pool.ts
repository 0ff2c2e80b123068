import pg from 'pg';
import { addressesOf } from '../net/addresses.js';
import { type ConnectionOptions, connectionConfig, leadsElsewhere, prepareConnection } from './connection.js';
import { isWithoutAnswer } from './errors.js';
import type { ServerBinding } from './server-binding.js';

/**
 * Longer than most pauses of background parts: a new connection costs the server a process, and both
 * sides the derivation of a password.
 */
const IDLE_MS = 60_000;

export interface PoolOptions extends ConnectionOptions {
  readonly maxConnections: number;
  /** Receives errors of idle connections. The pool replaces these connections. */
  readonly onIdleError: (error: Error) => void;
  readonly transactions?: TransactionHooks;
}

/** Steps that `withTransaction` adds to each transaction. It rolls back if one fails. */
export interface TransactionHooks {
  /** SQL without parameters, directly after BEGIN. */
  readonly begin: string;
  readonly beforeCommit: (db: pg.PoolClient) => Promise<void>;
}

class LedgerPool extends pg.Pool {
  /** Index of the host that new connections use, if there are several. */
  turn = 0;

  constructor(
    config: pg.PoolConfig,
    readonly transactions: TransactionHooks | undefined,
    private readonly server: ServerBinding | undefined,
    private readonly hosts: number,
  ) {
    super(config);
  }

  /** Every use of the pool starts here. Connections to a server that must no longer be used may still be open. */
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    if (callback === undefined) return this.connectToOneOf();
    this.connectToOneOf().then(
      (client) => callback(undefined, client, (release) => client.release(release)),
      (error: unknown) =>
        callback(error instanceof Error ? error : new Error(String(error)), undefined, () => undefined),
    );
    return undefined;
  }

  /** Tries each host once. The host that was reached is tried first next time. */
  private async connectToOneOf(): Promise<pg.PoolClient> {
    for (let tries = 1; ; tries += 1) {
      const refusal = this.server?.refusal() ?? null;
      if (refusal !== null) throw refusal;
      const { turn } = this;
      try {
        return await super.connect();
      } catch (error) {
        if (tries === this.hosts || !leadsElsewhere(error)) throw error;
        // Connections that fail at the same time advance to the next host only once.
        if (this.turn === turn) this.turn += 1;
      }
    }
  }
}

type ConnectCallback = Parameters<pg.Pool['connect']>[0];

/**
 * Creates a connection pool that connects on first use. `bigint` columns become numbers; beyond 2^53 - 1 the query
 * fails instead of rounding. `timestamptz` becomes `Date`, `bytea` becomes `Buffer`, and `numeric` becomes text. A
 * connection that cannot be prepared is closed, and the request for it rejects.
 */
export function createPool(options: PoolOptions): pg.Pool {
  class Connection extends pg.Client {
    constructor() {
      super(connectionConfig(options, pool.turn));
    }
  }
  const config = {
    ...connectionConfig(options),
    max: options.maxConnections,
    idleTimeoutMillis: IDLE_MS,
    Client: Connection,
    onConnect: (client: pg.ClientBase) => prepareConnection(client, options),
  };
  const pool: LedgerPool = new LedgerPool(
    config,
    options.transactions,
    options.server,
    addressesOf(options.url).length,
  );
  pool.on('error', options.onIdleError);
  // A server that is shutting down may accept and dismiss a client in one packet, before any other listener is
  // registered.
  pool.on('connect', (db) => db.on('error', () => undefined));
  if (options.server !== undefined) endWhenLost(pool, options.server);
  return pool;
}

/**
 * Ends all connections when the server must no longer be used, including those in use: an open transaction must not
 * commit there any more, and no answer of that server may count.
 */
function endWhenLost(pool: pg.Pool, server: ServerBinding): void {
  const connected = new Set<pg.Client>();
  pool.on('connect', (db) => {
    if (db instanceof pg.Client) connected.add(db);
  });
  pool.on('remove', (db) => {
    if (db instanceof pg.Client) connected.delete(db);
  });
  server.lost.catch(() => {
    for (const db of connected) db.end().catch(() => undefined);
  });
}

/**
 * A pool, or a connection within a transaction. A function that receives a connection becomes part
 * of its transaction.
 */
export type Queryable = pg.Pool | pg.PoolClient;

export interface TransactionOptions {
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable';
  /**
   * With `synchronous`, the commit waits for the disk, as the server is configured. With `asynchronous`, it does not,
   * because another record that is already on disk is enough to repeat the work after a crash of the server.
   */
  readonly durability?: 'synchronous' | 'asynchronous';
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
    // Sent in one message, so that the first statement costs no extra round trip.
    const durability = options.durability === 'asynchronous' ? 'SET LOCAL synchronous_commit = off; ' : '';
    await client.query(
      `BEGIN ISOLATION LEVEL ${options.isolation ?? 'read committed'}; ${durability}${hooks?.begin ?? ''}`,
    );
    const result = await work(client);
    await hooks?.beforeCommit(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection that does not answer is closed, which also rolls back.
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
