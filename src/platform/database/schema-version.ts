import pg from 'pg';
import * as z from 'zod';
import { DatabaseSetupError, lacksTable } from './errors.js';
import { type Migration, mayRunBeside } from './migrations.js';
import { misownedReadModels } from './rights.js';

const INSUFFICIENT_PRIVILEGE = '42501';
const Applied = z.array(z.object({ id: z.string(), runsBeside: z.string().nullable() }));
type Applied = z.infer<typeof Applied>;

/**
 * Refuses a database whose schema is older than this program, or so much newer that this program must
 * not run with it, or in which the roles lack rights.
 * @throws DatabaseSetupError `not_migrated`, `migration_unknown`, `rights_missing`
 */
export async function refuseUnmigrated(pool: pg.Pool, migrations: readonly Migration[]): Promise<void> {
  const rows = await readApplied(pool);
  const applied = new Set(rows.map(({ id }) => id));
  const missing = migrations.filter((migration) => !applied.has(migration.id)).map((migration) => migration.id);
  if (missing.length > 0) {
    throw new DatabaseSetupError(
      'not_migrated',
      `The database lacks ${missing.length === migrations.length ? 'the tables of the service' : missing.join(', ')}. Run: consent-ledger migrate`,
    );
  }
  refuseNewer(rows, migrations);
  const misowned = await misownedReadModels(pool);
  if (misowned.length > 0) throw rightsMissing(`${misowned[0]?.name} belongs to another role`);
  const unreadable = await unreadableTables(pool, migrations);
  if (unreadable.length > 0) throw rightsMissing(`consent_ledger_auditor may not read ${unreadable[0]}`);
}

function refuseNewer(applied: Applied, migrations: readonly Migration[]): void {
  const known = new Set(migrations.map(({ id }) => id));
  const own = migrations.at(-1)?.id ?? '';
  const newer = applied.filter((step) => !known.has(step.id) && !mayRunBeside(step, own));
  if (newer.length === 0) return;
  throw new DatabaseSetupError(
    'migration_unknown',
    `A newer version of this program migrated the database, and this one must not run with ${newer.map(({ id }) => id).join(', ')}. ` +
      'Use that version, or restore the backup from before the upgrade.',
  );
}

const Names = z.array(z.object({ name: z.string() }));

/**
 * Returns tables and views of this program that the role which reads all of them may not read, because their rights
 * were not restored. Other tables are ignored: while the next version migrates, and after a failed migration, there are
 * tables without rights, and processes of this version must still start.
 */
async function unreadableTables(pool: pg.Pool, migrations: readonly Migration[]): Promise<readonly string[]> {
  const { rows } = await pool.query(
    `select format('%I.%I', n.nspname, c.relname) as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       left join pg_roles r on r.rolname = 'consent_ledger_auditor'
      where c.relkind in ('r', 'p', 'v')
        and (n.nspname = 'read_model' or format('%I.%I', n.nspname, c.relname) = any ($1))
        and (r.oid is null or not has_table_privilege(r.oid, c.oid, 'select'))
        and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
      order by name`,
    [migrations.flatMap(({ sql }) => tablesOf(sql))],
  );
  return Names.parse(rows).map(({ name }) => name);
}

/**
 * Tables that a step creates, with their schemas. They are read from the SQL, in which each statement begins a line: a
 * second list could miss a table.
 */
function tablesOf(sql: string): readonly string[] {
  return [...sql.matchAll(/^create table ([\w.]+)/gm)].map(([, name = '']) =>
    name.includes('.') ? name : `public.${name}`,
  );
}

function rightsMissing(found: string, cause?: unknown): DatabaseSetupError {
  return new DatabaseSetupError(
    'rights_missing',
    `The roles of the service lack rights in this database (${found}): it was restored without them. Run: consent-ledger migrate`,
    { cause },
  );
}

async function readApplied(pool: pg.Pool): Promise<Applied> {
  try {
    // A database with the first schema does not have this column.
    const { rows } = await pool.query(
      `select id, to_jsonb(m) ->> 'runs_beside' as "runsBeside" from schema_migrations m`,
    );
    return Applied.parse(rows);
  } catch (error) {
    if (lacksTable(error)) return [];
    if (error instanceof pg.DatabaseError && error.code === INSUFFICIENT_PRIVILEGE)
      throw rightsMissing(error.message, error);
    throw error;
  }
}
