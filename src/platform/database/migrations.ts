import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { DatabaseSetupError } from './errors.js';
import type { Queryable } from './pool.js';

/**
 * A step of the database schema. A released step never changes; a later change is a later
 * migration.
 */
export interface Migration {
  /**
   * Identifies and orders the step: the path of its file without `.sql`, e.g.
   * `0001-initial/02-tenants`.
   */
  readonly id: string;
  /** One or more statements that may run inside a transaction. */
  readonly sql: string;
  /**
   * The oldest schema, by its folder (e.g. `0001-initial`), whose processes may keep running during and after the step,
   * or null if every process must be stopped.
   */
  readonly runsBeside: string | null;
  /**
   * Whether the step is one statement that is repeated until it changes no more rows, each time in its own transaction.
   * This is for tables that are too large for one transaction. Each run finds the remaining rows itself.
   */
  readonly repeats: boolean;
}

/**
 * Reads the steps of the schema in the order of their application: the `.sql` files in the folders of `migrations`,
 * which the build copies next to the program, one step each. An applied step is recorded with its digest, and a
 * database with a different digest is refused. After a release, files are therefore only added, in a folder with the
 * next number.
 * @throws Error for a file that does not state what may run beside it; any error of reading the
 *   files, which are part of the program
 */
export function loadMigrations(): readonly Migration[] {
  const folder = fileURLToPath(new URL('./migrations', import.meta.url));
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => migrationOf(name.slice(0, -'.sql'.length), readFileSync(`${folder}/${name}`, 'utf8')));
}

/**
 * Parses a step from the text of its file, whose first line states what may run beside it: `-- Runs beside:
 * 0001-initial` or `-- Runs beside: nothing`. A step that repeats has the second line `-- Repeats until it changes no
 * row`.
 * @throws Error if this line is missing, or does not name an earlier schema
 */
export function migrationOf(id: string, sql: string): Migration {
  const [, beside] = /^-- Runs beside: (nothing|\d{4}-[a-z0-9-]+)\n/.exec(sql) ?? [];
  if (beside === undefined)
    throw new Error(`The first line of the migration ${id} must be "-- Runs beside: nothing", or name a schema.`);
  if (beside !== 'nothing' && beside >= (id.split('/')[0] ?? id))
    throw new Error(`The migration ${id} must name an earlier schema than its own in its first line.`);
  const repeats = /^.*\n-- Repeats until it changes no row\n/.test(sql);
  return { id, sql, runsBeside: beside === 'nothing' ? null : beside, repeats };
}

/** Length of the number with which the name of a schema begins: `0001-initial`. */
const DIGITS = 4;
const FIRST_SCHEMA = '0001';

/**
 * Returns the `application_name` of a connection: the part of the program, and the number of the newest
 * schema that the program knows, by which a later version sees what runs beside its migrations.
 * @param part e.g. `api`
 */
export function programName(part: string): string {
  const folder = fileURLToPath(new URL('./migrations', import.meta.url));
  const schemas = readdirSync(folder).filter((name) => /^\d{4}-/.test(name));
  return `consent-ledger ${part} (schema ${schemas.sort().at(-1)?.slice(0, DIGITS) ?? FIRST_SCHEMA})`;
}

/** Programs of the service that are connected, by their names. */
interface Connected {
  readonly name: string;
  readonly host: string | null;
  readonly connections: number;
}

const ConnectedRows: z.ZodType<Connected[]> = z.array(
  z.object({ name: z.string(), host: z.string().nullable(), connections: z.int() }),
);

/**
 * Refuses steps beside which a connected program must not run. A program without a connection is not visible; it is
 * refused when it starts (`refuseUnmigrated`).
 * @param db logged in as the user of the programs, whose connections other users may not see
 * @param after the end of the message's first part, which says what was applied
 * @throws DatabaseSetupError `migration_needs_stop`
 */
export async function refuseBesidePrograms(db: Queryable, steps: readonly Migration[], after: string): Promise<void> {
  if (steps.length === 0) return;
  // A process that migrates, or only runs the embedded server, does not use the tables meanwhile.
  const { rows } = await db.query(
    `select application_name as name, host(client_addr) as host, count(*)::int as connections
       from pg_stat_activity
      where datname = current_database() and application_name ~ '^consent-ledger (?!migrate|lease)'
      group by 1, 2 order by 1, 2`,
  );
  const programs = ConnectedRows.parse(rows);
  const refused = steps.filter((step) => programs.some((program) => !mayRunBeside(step, schemaOf(program))));
  if (refused.length === 0) return;
  const running = programs.filter((program) => refused.some((step) => !mayRunBeside(step, schemaOf(program))));
  throw new DatabaseSetupError(
    'migration_needs_stop',
    `These programs are connected, and must not run beside ${schemasOf(refused).join(', ')}: ` +
      `${running.map(described).join(', ')}. ${after} Stop them, and run: consent-ledger migrate`,
  );
}

/** Returns whether programs whose newest schema has this number may run while a step is applied, and afterwards. */
export function mayRunBeside({ runsBeside }: Pick<Migration, 'runsBeside'>, schema: string): boolean {
  return runsBeside !== null && runsBeside.slice(0, DIGITS) <= schema;
}

/** Programs of the first schema did not state their schema. */
function schemaOf({ name }: Connected): string {
  return /\(schema (\d{4})\)$/.exec(name)?.[1] ?? FIRST_SCHEMA;
}

function schemasOf(steps: readonly Migration[]): readonly string[] {
  return [...new Set(steps.map(({ id }) => id.split('/')[0] ?? id))];
}

function described({ name, host, connections }: Connected): string {
  return `${name} from ${host ?? 'this machine'}, ${connections === 1 ? '1 connection' : `${connections} connections`}`;
}
