import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { DatabaseSetupError } from './errors.js';
import type { Migration } from './migrations/migration.js';
import type { Queryable } from './pool.js';

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
 * Refuses steps beside which a connected program must not run. A program without a connection is not
 * seen: it is refused when it starts (`refuseUnmigrated`).
 * @param db logged in as the user of the programs, whose connections other users may not see
 * @param after the end of the message's first part: what was applied
 * @throws DatabaseSetupError `migration_needs_stop`
 */
export async function refuseBesidePrograms(db: Queryable, steps: readonly Migration[], after: string): Promise<void> {
  if (steps.length === 0) return;
  // A process that migrates, or keeps the embedded server, reads and writes no table meanwhile.
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

/** The programs of the first schema did not state it. */
function schemaOf({ name }: Connected): string {
  return /\(schema (\d{4})\)$/.exec(name)?.[1] ?? FIRST_SCHEMA;
}

function schemasOf(steps: readonly Migration[]): readonly string[] {
  return [...new Set(steps.map(({ id }) => id.split('/')[0] ?? id))];
}

function described({ name, host, connections }: Connected): string {
  return `${name} from ${host ?? 'this machine'}, ${connections === 1 ? '1 connection' : `${connections} connections`}`;
}
