import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Migration } from './migration.js';

/**
 * Reads the steps of the schema in the order of their application: the `.sql` files in the folders
 * beside this file, one step each. An applied step is recorded with its digest, and a database with
 * a different digest is refused. After a release, files are therefore only added, in a folder with
 * the next number.
 * @throws any error of reading the files, which are part of the program
 */
export function loadMigrations(): readonly Migration[] {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ id: name.slice(0, -'.sql'.length), sql: readFileSync(`${folder}/${name}`, 'utf8') }));
}
