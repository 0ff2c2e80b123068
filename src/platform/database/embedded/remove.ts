import { access, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { clusterDirOf } from './cluster.js';
import { EmbeddedPostgresError } from './errors.js';
import { withFileLock } from './file-lock.js';
import { LOCK_FILE, openHome, PASSWORD_FILE, STATE_FILE } from './home.js';
import { findPostmaster } from './postmaster.js';

const LOCK_TIMEOUT_MS = 60_000;

/**
 * Deletes the embedded PostgreSQL of a data folder: its database files in any location, and its
 * entries in `DATA_DIR`. Does nothing if there is none.
 * @throws EmbeddedPostgresError `in_use` while it runs
 */
export async function removeEmbeddedPostgres(dataDirectory: string): Promise<void> {
  const dataDir = resolve(dataDirectory);
  const isThere = await access(join(dataDir, STATE_FILE)).then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  await withFileLock(join(dataDir, LOCK_FILE), LOCK_TIMEOUT_MS, async () => {
    const { dir } = await openHome(dataDir, dataDir, () => undefined);
    if ((await findPostmaster(clusterDirOf(dir))) !== undefined) {
      throw new EmbeddedPostgresError(
        'in_use',
        `The PostgreSQL in ${dir} is running. Stop the programs that use it first.`,
      );
    }
    await rm(dir, { recursive: true, force: true });
    await rm(join(dataDir, STATE_FILE), { force: true });
    await rm(join(dataDir, PASSWORD_FILE), { force: true });
    // The last home also removes the parent folder of all homes.
    if (dirname(dir) !== dataDir) await rmdir(dirname(dir)).catch(() => undefined);
  });
}
