import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Migration } from './migrations/migration.js';

/**
 * Reads the steps of the schema in the order of their application: the `.sql` files in the
 * folders of `migrations`, which the build copies beside the program, one step each. An applied step is recorded with its digest, and a database with
 * a different digest is refused. After a release, files are therefore only added, in a folder with
 * the next number.
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
 * Makes a step of the text of its file, whose first line states what may run beside it:
 * `-- Runs beside: 0001-initial` or `-- Runs beside: nothing`. A step that repeats has the second line
 * `-- Repeats until it changes no row`.
 * @throws Error without this line, or where it names no earlier schema
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
