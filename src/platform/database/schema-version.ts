import pg from 'pg';
import { z } from 'zod';
import { DatabaseSetupError } from './errors.js';
import type { Migration } from './migrations/migration.js';

const UNDEFINED_TABLE = '42P01';
const appliedIds = z.array(z.object({ id: z.string() }));

/**
 * Refuses a database whose schema is older than this program.
 * @throws DatabaseSetupError `not_migrated`
 */
export async function refuseUnmigrated(pool: pg.Pool, migrations: readonly Migration[]): Promise<void> {
  const applied = new Set((await readAppliedIds(pool)).map((row) => row.id));
  const missing = migrations.filter((migration) => !applied.has(migration.id)).map((migration) => migration.id);
  if (missing.length === 0) return;
  throw new DatabaseSetupError(
    'not_migrated',
    `The database lacks ${missing.length === migrations.length ? 'the tables of the service' : missing.join(', ')}. Run: consent-ledger migrate`,
  );
}

async function readAppliedIds(pool: pg.Pool): Promise<{ id: string }[]> {
  try {
    const { rows } = await pool.query('select id from schema_migrations');
    return appliedIds.parse(rows);
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === UNDEFINED_TABLE) return [];
    throw error;
  }
}
