import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import * as z from 'zod';
import { DatabaseSetupError, isCollision, isLocked } from './errors.js';
import { type Migration, refuseBesidePrograms } from './migrations.js';
import type { Queryable } from './pool.js';
import { withTransaction } from './pool.js';
import { ensureRoles, restateRights } from './rights.js';
import { restateSealTriggers } from './sealed-tables.js';

/**
 * Lock that serializes the migrations of one database. The number is arbitrary and never changes.
 */
const LOCK_ID = 7_301_460_211;
const MAX_TRIES = 20;
/**
 * A step that waits for the lock of a table, for example during a long audit, blocks every later statement that needs
 * the table. A step therefore waits only this long, and lets the others pass before it tries again.
 */
const LOCK_TIMEOUT_MS = 2_000;

const appliedSchema = z.array(z.object({ id: z.string(), sha256: z.string() }));

export interface MigrateOptions {
  /** Called before a step that the database lacks. */
  readonly onStep: (migration: Migration) => void;
  /** Called after each run of a step that repeats, with the number of rows that this call changed. */
  readonly onRows: (migration: Migration, rows: number) => void;
}

/**
 * Updates the schema: creates the roles, and applies each migration that is not recorded in
 * `schema_migrations`, each in its own transaction, and each run of a step that repeats. Then it
 * restates the triggers of sealed tables and the rights of the roles. Any number of processes may do
 * this concurrently and repeatedly, and after one was killed; each migration is applied exactly once.
 * @param pool logged in as the schema's owner, without a role
 * @returns ids of the migrations that this call applied
 * @throws DatabaseSetupError `roles_not_permitted`, `migration_changed`, `migration_unknown`,
 *   `migration_failed`; `migration_needs_stop`, before any step if the programs are connected then
 */
export async function migrate(
  pool: pg.Pool,
  migrations: readonly Migration[],
  { onStep, onRows }: MigrateOptions = SILENT,
): Promise<string[]> {
  const done: string[] = [];
  const applied = await withTransaction(pool, async (db) => {
    await lock(db);
    return readApplied(db);
  });
  refuseForeignHistory(migrations, applied);
  const waiting = migrations.filter(({ id }) => !applied.has(id));
  await refuseBesidePrograms(pool, waiting, 'Nothing was applied.');
  await ensureRoles(pool);
  for (const migration of migrations) {
    if (waiting.includes(migration)) onStep(migration);
    for (let rows = 0, isDone = false; !isDone; ) {
      const run = await withRetries(pool, migration.id, (db) => apply(db, migration));
      if (run === 'applied') done.push(migration.id);
      isDone = typeof run === 'string';
      if (typeof run === 'number') {
        rows += run;
        onRows(migration, rows);
      }
    }
  }
  await withRetries(pool, 'seals', restateSealTriggers);
  await withRetries(pool, 'rights', (db) => restateRights(db, migrations));
  return done;
}

const SILENT: MigrateOptions = { onStep: () => undefined, onRows: () => undefined };

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

/** Runs a step in a transaction under the lock, and repeats it if it collides with another session. */
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

/**
 * Runs a step once, unless it is recorded.
 * @returns the number of rows that a repeating step changed; such a step is recorded after a run that changes none
 */
async function apply(db: Queryable, migration: Migration): Promise<'applied' | 'recorded' | number> {
  const { id, sql, runsBeside, repeats } = migration;
  const sha256 = createHash('sha256').update(sql).digest('hex');
  const recorded = (await readApplied(db)).get(id);
  if (recorded === sha256) return 'recorded';
  if (recorded !== undefined) {
    throw new DatabaseSetupError(
      'migration_changed',
      `Migration ${id} is recorded in this database with another text: another version of this program migrated the database. Use that version.`,
    );
  }
  // Checked for each step, because a program may have started since the first one.
  await refuseBesidePrograms(db, [migration], 'The steps before are applied.');
  const { rowCount } = await db.query(sql);
  if (repeats && rowCount !== 0) return rowCount ?? refuseRepetition(migration);
  await db.query('INSERT INTO schema_migrations (id, sha256, runs_beside) VALUES ($1, $2, $3)', [
    id,
    sha256,
    runsBeside,
  ]);
  return 'applied';
}

function refuseRepetition({ id }: Migration): never {
  throw new Error(`${id} repeats, and is not one statement that changes rows`);
}

async function lock(db: Queryable): Promise<void> {
  await db.query('SET LOCAL statement_timeout = 0');
  await db.query('SELECT pg_advisory_xact_lock($1)', [LOCK_ID]);
}

async function readApplied(db: Queryable): Promise<Applied> {
  await db.query(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
       id text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now(), runs_beside text)`,
  );
  const { rows } = await db.query('SELECT id, sha256 FROM schema_migrations');
  return new Map(appliedSchema.parse(rows).map((row) => [row.id, row.sha256]));
}
