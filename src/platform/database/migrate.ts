import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { z } from 'zod';
import { ensureRoles } from './ensure-roles.js';
import { DatabaseSetupError } from './errors.js';
import { isCollision, isLocked } from './migration-collision.js';
import type { Migration } from './migrations/migration.js';
import { stepsThatNeedAStop } from './migrations/needed-stop.js';
import type { Queryable } from './pool.js';
import { withTransaction } from './pool.js';
import { restateRights } from './restate-rights.js';
import { restateSealTriggers } from './sealed-tables.js';

/**
 * Lock that serializes the migrations of one database. The number is arbitrary and never changes.
 */
const LOCK_ID = 7_301_460_211;
const MAX_TRIES = 20;
/**
 * A step that waits for the lock of a table, for example during a long audit, blocks every later statement
 * that needs the table. A step therefore waits this long, and lets the others pass before it tries again.
 */
const LOCK_TIMEOUT_MS = 2_000;

const appliedSchema = z.array(z.object({ id: z.string(), sha256: z.string() }));

export interface MigrateOptions {
  /** Whether processes of the service use the database meanwhile. */
  readonly online: boolean;
  /** Called before a step that the database lacks. */
  readonly onStep: (migration: Migration) => void;
}

/**
 * Updates the schema: creates the roles, and applies each migration that is not recorded in
 * `schema_migrations`, each in its own transaction. Then it restates the triggers of sealed tables
 * and the rights of the roles. Any number of processes may do this concurrently and repeatedly; each
 * migration is applied exactly once.
 * @param pool logged in as the schema's owner, without a role
 * @returns ids of the migrations that this call applied
 * @throws DatabaseSetupError `roles_not_permitted`, `migration_changed`, `migration_unknown`,
 *   `migration_failed`; `migration_needs_stop` before any step, if `online`
 */
export async function migrate(
  pool: pg.Pool,
  migrations: readonly Migration[],
  { online, onStep }: MigrateOptions = OFFLINE,
): Promise<string[]> {
  const done: string[] = [];
  const applied = await withTransaction(pool, async (db) => {
    await lock(db);
    return readApplied(db);
  });
  refuseForeignHistory(migrations, applied);
  if (online) refuseStepsThatNeedAStop(migrations, applied);
  await ensureRoles(pool);
  for (const migration of migrations) {
    if (!applied.has(migration.id)) onStep(migration);
    const isApplied = await withRetries(pool, migration.id, (db) => apply(db, migration));
    if (isApplied) done.push(migration.id);
  }
  await withRetries(pool, 'seals', restateSealTriggers);
  await withRetries(pool, 'rights', (db) => restateRights(db, migrations));
  return done;
}

const OFFLINE: MigrateOptions = { online: false, onStep: () => undefined };

type Applied = ReadonlyMap<string, string>;

function refuseForeignHistory(migrations: readonly Migration[], applied: Applied): void {
  const known = new Set(migrations.map((migration) => migration.id));
  const unknown = [...applied.keys()].filter((id) => !known.has(id));
  if (unknown.length > 0) {
    throw new DatabaseSetupError(
      'migration_unknown',
      `A newer version of this program migrated the database (${unknown.join(', ')}). Use that version.`,
    );
  }
}

function refuseStepsThatNeedAStop(migrations: readonly Migration[], applied: Applied): void {
  const steps = stepsThatNeedAStop(migrations, new Set(applied.keys())).map(({ id }) => id);
  if (steps.length === 0) return;
  throw new DatabaseSetupError(
    'migration_needs_stop',
    `The processes that use this database must not run beside ${steps.join(', ')}. Nothing was applied. ` +
      'Stop every api, worker and serve, and run: consent-ledger migrate',
  );
}

/** Runs a step in a transaction under the lock, again if it collides with another session. */
async function withRetries<T>(pool: pg.Pool, name: string, step: (db: Queryable) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await withTransaction(pool, async (db) => {
        await lock(db);
        await db.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
        return step(db);
      });
    } catch (error) {
      if (error instanceof DatabaseSetupError) throw error;
      if (tries < MAX_TRIES && isCollision(error)) {
        await sleep(10 + Math.random() * 40);
        continue;
      }
      const reason = error instanceof Error ? error.message : String(error);
      const advice = isLocked(error)
        ? '. Another session holds a lock that the step needs, such as an audit or a dump: wait for its end, and migrate again.'
        : '';
      throw new DatabaseSetupError('migration_failed', `Migration ${name} failed: ${reason}${advice}`, {
        cause: error,
      });
    }
  }
}

async function apply(db: Queryable, migration: Migration): Promise<boolean> {
  const sha256 = createHash('sha256').update(migration.sql).digest('hex');
  const recorded = (await readApplied(db)).get(migration.id);
  if (recorded === sha256) return false;
  if (recorded !== undefined) {
    throw new DatabaseSetupError(
      'migration_changed',
      `Migration ${migration.id} is recorded in this database with another text: another version of this program migrated the database. Use that version.`,
    );
  }
  await db.query(migration.sql);
  await db.query('INSERT INTO schema_migrations (id, sha256) VALUES ($1, $2)', [migration.id, sha256]);
  return true;
}

async function lock(db: Queryable): Promise<void> {
  await db.query('SET LOCAL statement_timeout = 0');
  await db.query('SELECT pg_advisory_xact_lock($1)', [LOCK_ID]);
}

async function readApplied(db: Queryable): Promise<Applied> {
  await db.query(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
       id text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
  );
  const { rows } = await db.query('SELECT id, sha256 FROM schema_migrations');
  return new Map(appliedSchema.parse(rows).map((row) => [row.id, row.sha256]));
}
