import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { DatabaseSetupError } from './errors.js';
import type { Migration } from './migrations/migration.js';
import { withTransaction } from './pool.js';
import { ROLES_MIGRATION, rolesSqlForAdministrator } from './roles.js';

/** Serialises the migrators of one database; the number is arbitrary and never changes. */
const LOCK_ID = 7_301_460_211;
const MAX_TRIES = 20;

const appliedSchema = z.array(z.object({ id: z.string(), sha256: z.string() }));

/**
 * Brings the schema up to date: applies each migration that is not recorded in `schema_migrations`, in one transaction
 * each. Any number of processes may do this at once, and again: each migration is applied exactly once.
 * @param pool logged in as the schema's owner, without a role
 * @returns ids of the migrations that this call applied
 * @throws DatabaseSetupError `roles_not_permitted`, `migration_changed`, `migration_unknown`, `migration_failed`
 */
export async function migrate(pool: pg.Pool, migrations: readonly Migration[]): Promise<string[]> {
  const done: string[] = [];
  await refuseForeignHistory(pool, migrations);
  for (const migration of migrations) {
    if (await applyWithRetries(pool, migration)) done.push(migration.id);
  }
  return done;
}

async function refuseForeignHistory(pool: pg.Pool, migrations: readonly Migration[]): Promise<void> {
  const known = new Set(migrations.map((migration) => migration.id));
  const applied = await withTransaction(pool, async (client) => {
    await lock(client);
    return readApplied(client);
  });
  const unknown = [...applied.keys()].filter((id) => !known.has(id));
  if (unknown.length > 0) {
    throw new DatabaseSetupError(
      'migration_unknown',
      `A newer version of this program migrated the database (${unknown.join(', ')}). Use that version.`,
    );
  }
}

async function applyWithRetries(pool: pg.Pool, migration: Migration): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      return await withTransaction(pool, (client) => apply(client, migration));
    } catch (error) {
      if (error instanceof DatabaseSetupError) throw error;
      if (tries < MAX_TRIES && isCollision(error)) {
        await sleep(10 + Math.random() * 40);
        continue;
      }
      throw await explain(pool, migration, error);
    }
  }
}

async function apply(client: pg.PoolClient, migration: Migration): Promise<boolean> {
  await lock(client);
  const sha256 = createHash('sha256').update(migration.sql).digest('hex');
  const recorded = (await readApplied(client)).get(migration.id);
  if (recorded === sha256) return false;
  if (recorded !== undefined) {
    throw new DatabaseSetupError(
      'migration_changed',
      `Migration ${migration.id} is recorded in this database with another text: another version of this program migrated the database. Use that version.`,
    );
  }
  await client.query(migration.sql);
  await client.query('INSERT INTO schema_migrations (id, sha256) VALUES ($1, $2)', [migration.id, sha256]);
  return true;
}

async function lock(client: pg.PoolClient): Promise<void> {
  await client.query('SET LOCAL statement_timeout = 0');
  await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK_ID]);
}

async function readApplied(client: pg.PoolClient): Promise<Map<string, string>> {
  await client.query(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
       id text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
  );
  const { rows } = await client.query('SELECT id, sha256 FROM schema_migrations');
  return new Map(appliedSchema.parse(rows).map((row) => [row.id, row.sha256]));
}

/** Roles are shared by all databases of a server, and our lock holds for one: two databases may touch a role at once. */
function isCollision(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === '40001' || error.code === '40P01' || /tuple concurrently (updated|deleted)/.test(error.message);
}

async function explain(pool: pg.Pool, migration: Migration, error: unknown): Promise<Error> {
  const reason = error instanceof Error ? error.message : String(error);
  if (migration.id === ROLES_MIGRATION && error instanceof pg.DatabaseError && error.code === '42501') {
    const { rows } = await pool.query('SELECT current_user AS name');
    const [{ name }] = z.tuple([z.object({ name: z.string() })]).parse(rows);
    return new DatabaseSetupError(
      'roles_not_permitted',
      `The database user ${name} must not create the roles of this service (${reason}). Ask an administrator to run once:\n` +
        rolesSqlForAdministrator(name),
      { cause: error },
    );
  }
  return new DatabaseSetupError('migration_failed', `Migration ${migration.id} failed: ${reason}`, { cause: error });
}
