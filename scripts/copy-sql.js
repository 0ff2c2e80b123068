/**
 * Puts the `.sql` files of the schema beside the compiled `migrations/index.js`, which reads them: tsc copies no other
 * files than its own. `dist` then runs without `src`, as in the container image.
 */
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = 'src/platform/database/migrations';
const from = join(root, folder);
const to = join(root, 'dist', folder);

const sqlIn = (path) =>
  readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sql'));

// A file that was renamed would otherwise stay, and be applied as a step of its own.
if (existsSync(to)) for (const name of sqlIn(to)) rmSync(join(to, name));
for (const name of sqlIn(from)) cpSync(join(from, name), join(to, name));
