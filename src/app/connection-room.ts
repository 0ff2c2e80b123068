import * as z from 'zod';
import type { Config } from '../platform/config/index.js';
import { DatabaseSetupError } from '../platform/database/errors.js';
import { type Installation, LEASES } from './installation.js';

/** The parts of an installation on which the number of its connections depends. */
export interface ConnectionUser {
  readonly config: { readonly database: Pick<Config['database'], 'poolSize'> };
  readonly logger: Pick<Installation['logger'], 'info' | 'warn'>;
  readonly eventLog: Pick<Installation['eventLog'], 'kind'>;
  readonly workerPool: Installation['workerPool'];
}

/** Number of pools with `DATABASE_POOL_SIZE` connections in a process: API, worker and projections. */
const POOLS = 3;
/** The leases, the pool of the panel (4), the connection that asks which server the address leads to, and its predecessor. */
const FURTHER = 6 + LEASES;
/** Pool of the event log in PostgreSQL (4), and the connection that listens. */
const OF_THE_LOG = 5;

const RoomRows = z.tuple([z.object({ allowed: z.int(), used: z.int() })]);

/**
 * Compares the connections that this process may open with what PostgreSQL allows the user of `DATABASE_URL`, and logs
 * both. Call it at the start of every long-running process.
 * @throws DatabaseSetupError `too_few_connections` if the limit can never suffice
 */
export async function assertConnectionsFit({ config, logger, eventLog, workerPool }: ConnectionUser): Promise<void> {
  const fixed = FURTHER + (eventLog.kind === 'postgres' ? OF_THE_LOG : 0);
  const atMost = POOLS * config.database.poolSize + fixed;
  const { rows } = await workerPool.query(
    `select least(
        current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
          - coalesce(current_setting('reserved_connections', true)::integer, 0),
        (select nullif(rolconnlimit, -1) from pg_roles where rolname = session_user),
        (select nullif(datconnlimit, -1) from pg_database where datname = current_database())) as allowed,
      (select sum(numbackends)::integer from pg_stat_database) as used`,
  );
  const [{ allowed, used }] = RoomRows.parse(rows);
  const numbers = { connections_at_most: atMost, connections_allowed: allowed, connections_in_use: used };
  if (atMost > allowed) {
    const size = Math.floor((allowed - fixed) / POOLS);
    const lower = size < 2 ? 'Raise' : `Set DATABASE_POOL_SIZE to ${size} or less, or raise`;
    throw new DatabaseSetupError(
      'too_few_connections',
      `This process opens up to ${atMost} connections to PostgreSQL, which allows the user of DATABASE_URL ${allowed} for all ` +
        `processes together. ${lower} max_connections.`,
    );
  }
  if (used + atMost > allowed)
    logger.warn(
      numbers,
      'this process and those already connected may need more connections than PostgreSQL allows: lower DATABASE_POOL_SIZE or raise max_connections',
    );
  else logger.info(numbers, 'connections to PostgreSQL');
}
