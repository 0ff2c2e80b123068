/** Writes docs/schema.md and schema.json from a new, migrated database: `npm run docs:schema`. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '../embedded/index.js';
import { loadMigrations } from '../load-migrations.js';
import { migrate } from '../migrate.js';
import { createPool } from '../pool.js';
import { SCHEMA_FILE, schemaText } from '../schema-differences.js';
import { readObjects } from '../schema-objects.js';
import { readSchema } from './read-schema.js';
import { schemaPage } from './render-schema.js';

const dataDir = await mkdtemp(join(tmpdir(), 'consent-ledger-schema-'));
// For root, the files of the server are in a folder of another account, which needs access through
// this folder.
await chmod(dataDir, 0o755);
try {
  const postgres = await openEmbeddedPostgres({ dataDir, rootHomeBase: join(dataDir, 'home'), log: () => undefined });
  const pool = createPool({
    url: postgres.superuserUrl,
    applicationName: 'schema page',
    maxConnections: 1,
    statementTimeoutMs: 0,
    onIdleError: (error) => console.error(error.message),
  });
  try {
    await migrate(pool, loadMigrations());
    await writeFile('docs/schema.md', schemaPage(await readSchema(pool)));
    await writeFile(`src/platform/database/migrations/${SCHEMA_FILE}`, schemaText(await readObjects(pool)));
  } finally {
    await pool.end();
    await postgres.release();
  }
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
