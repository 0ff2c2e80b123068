import { execFile } from 'node:child_process';
import { chown, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './errors.js';
import type { Home } from './home.js';
import type { PostgresRuntime } from './runtime.js';
import { SUPERUSER, spawnOptions } from './settings.js';

/** Returns the folder of the database files. */
export function clusterDirOf(home: string): string {
  return join(home, 'data');
}

/**
 * Initializes the database files unless they exist. The initialization works in a separate folder
 * that is renamed at the end, so an interrupted one leaves no partial cluster.
 * @param major PostgreSQL's major version, which must equal that of existing files
 * @throws EmbeddedPostgresError `initdb_failed`, `version_mismatch`
 */
export async function initialiseCluster(home: Home, runtime: PostgresRuntime, major: string): Promise<void> {
  const clusterDir = clusterDirOf(home.dir);
  const existing = await readFile(join(clusterDir, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (existing !== undefined) {
    if (existing.trim() === major) return;
    throw new EmbeddedPostgresError(
      'version_mismatch',
      `The database files in ${clusterDir} belong to PostgreSQL ${existing.trim()}, but this program contains version ${major}. ` +
        'Dump the database with the program version that created them, or upgrade the files with pg_upgrade.',
    );
  }
  const draft = `${clusterDir}.new`;
  const passwordFile = join(home.dir, 'initdb.password');
  await rm(draft, { recursive: true, force: true });
  await rm(passwordFile, { force: true });
  await writeFile(passwordFile, home.password, { mode: 0o600, flag: 'wx' });
  if (home.account !== undefined) await chown(passwordFile, home.account.uid, home.account.gid);
  try {
    await promisify(execFile)(
      runtime.initdb,
      [
        ...['-D', draft, '-U', SUPERUSER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
        ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
        '--data-checksums',
      ],
      spawnOptions(home.dir, runtime.libDir, home.account),
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new EmbeddedPostgresError('initdb_failed', `The database could not be initialised: ${reason}`, {
      cause: error,
    });
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, clusterDir);
}
