import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Migration } from './migration.js';

/**
 * Reads the steps of the schema, in the order in which they are applied: the `.sql` files in the folders beside this
 * file, each one step. A step is recorded with its digest when it is applied, and a database where it differs is
 * refused: after a release, files are only added, in a folder with the next number.
 * @throws what reading the files throws: they are part of the program
 */
export function loadMigrations(): readonly Migration[] {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ id: name.slice(0, -'.sql'.length), sql: readFileSync(`${folder}/${name}`, 'utf8') }));
}
