import type pg from 'pg';
import * as z from 'zod';
import { DatabaseSetupError } from './errors.js';

const MINIMUM_MAJOR = 15;

const settingsSchema = z.array(z.object({ name: z.string(), setting: z.string() }));

/**
 * Refuses a server that is too old or that could lose committed data, because a 202 response
 * promises durability.
 * @throws DatabaseSetupError `unsafe_server` or `unsupported_version`
 */
export async function refuseUnsafeServer(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query(
    `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'server_version_num')`,
  );
  const settings = new Map(settingsSchema.parse(rows).map((row) => [row.name, row.setting]));
  const major = Math.floor(Number(settings.get('server_version_num')) / 10_000);
  if (!(major >= MINIMUM_MAJOR)) {
    throw new DatabaseSetupError(
      'unsupported_version',
      `The server of DATABASE_URL is PostgreSQL ${major}. The service requires version ${MINIMUM_MAJOR} or later.`,
    );
  }
  for (const name of ['fsync', 'full_page_writes']) {
    if (settings.get(name) !== 'on') {
      throw new DatabaseSetupError(
        'unsafe_server',
        `The PostgreSQL server runs with ${name} = ${settings.get(name) ?? 'unknown'}: it could lose acknowledged ` +
          `consents. Set ${name} = on in postgresql.conf and restart the server.`,
      );
    }
  }
}

const ROUNDS = 5;
const Connected = z.object({ processID: z.int().nullable() });
const Pids = z.tuple([z.object({ pid: z.int() })]);

/**
 * Refuses a pooler that gives a connection another session of PostgreSQL for each transaction or statement. Roles,
 * limits, locks and notifications belong to a session, and such a pooler would silently mix up those of all
 * connections. A pooler reveals itself because the process id that a connection gets for cancelling is not that of its
 * session. In that case two connections are asked for their sessions. A pooler that lends sessions either picks the
 * most recently used one, so both connections see the same session, or picks them in turn, so one connection sees two.
 * With many clients, chance decides; hence several rounds. @param pool a pool of at least two connections @throws
 * DatabaseSetupError `transaction_pooling`
 */
export async function refuseTransactionPooling(pool: pg.Pool): Promise<void> {
  const first = await pool.connect();
  try {
    const session = await sessionOf(first);
    if (Connected.parse(first).processID === session) return;
    const second = await pool.connect();
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        if ((await sessionOf(first)) !== session || (await sessionOf(first)) !== session) throw lends();
        if ((await sessionOf(second)) === session) throw lends();
      }
    } finally {
      second.release();
    }
  } finally {
    first.release();
  }
}

async function sessionOf(db: pg.PoolClient): Promise<number> {
  return Pids.parse((await db.query('select pg_backend_pid() as pid')).rows)[0].pid;
}

function lends(): DatabaseSetupError {
  return new DatabaseSetupError(
    'transaction_pooling',
    'DATABASE_URL leads to a pooler in transaction or statement mode: it gives each transaction another session, and ' +
      'roles, locks and notifications of the service belong to a session. Set pool_mode = session for this database in ' +
      'the pooler, or connect DATABASE_URL to PostgreSQL directly.',
  );
}
