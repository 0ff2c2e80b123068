import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';
import type { PostgresRuntime } from './runtime.js';
import { type Account, EmbeddedPostgresError, findUnprivilegedAccount, SUPERUSER, spawnOptions } from './settings.js';

/** Location and address of the embedded PostgreSQL of one `DATA_DIR`. */
export interface Home {
  /** Absolute path of the folder with the database files, the copy of PostgreSQL and its log. */
  readonly dir: string;
  /** Account that runs PostgreSQL. If `undefined`, it is the account of this process. */
  readonly account: Account | undefined;
  /** TCP port of the last start, or 0 before the first start. */
  readonly port: number;
  readonly password: string;
}

export const STATE_FILE = 'embedded.json';
export const LOCK_FILE = 'embedded.lock';
export const PASSWORD_FILE = 'postgres.password';

const stateSchema = z.strictObject({
  version: z.literal(1),
  // Either inside DATA_DIR or a folder with a random name. `removeEmbeddedPostgres` deletes no
  // other folder.
  home: z.union([z.literal('postgres'), z.string().regex(/^\/.*\/[0-9a-f]{16}$/)]),
  port: z.number().int().min(0).max(65535),
});
const passwordSchema = z.string().regex(/^[A-Za-z0-9_-]{20,}$/);

/**
 * Reads the home recorded in `DATA_DIR/embedded.json`, or chooses one and records it.
 *
 * The home of an ordinary user is `DATA_DIR/postgres`. PostgreSQL refuses to run as root, and
 * root's folders may be closed to other accounts. For root, the home is therefore a new folder of
 * an unprivileged account below `rootHomeBase`. Its path is logged once.
 * @param dataDir absolute path of an existing folder; the caller holds its lock
 * @throws EmbeddedPostgresError `state_invalid`, `no_unprivileged_account`
 */
export async function openHome(dataDir: string, rootHomeBase: string, log: (line: string) => void): Promise<Home> {
  const isRoot = process.getuid?.() === 0;
  const password = await readOrCreate(join(dataDir, PASSWORD_FILE), passwordSchema, () =>
    randomBytes(24).toString('base64url'),
  );
  const recorded = await readOrCreate(join(dataDir, STATE_FILE), z.string(), () => {
    const home = isRoot ? join(rootHomeBase, randomBytes(8).toString('hex')) : 'postgres';
    if (isRoot) log(`PostgreSQL does not run as root. Its files are in ${home}, owned by an unprivileged account.`);
    return stateText({ version: 1, home, port: 0 });
  });
  const state = parseState(join(dataDir, STATE_FILE), recorded);
  const dir = isAbsolute(state.home) ? state.home : resolve(dataDir, state.home);
  return { dir, account: await prepareFolder(dir, isRoot), port: state.port, password };
}

/** Records the port of a start for the next start and for other commands. */
export async function recordPort(dataDir: string, port: number): Promise<void> {
  const path = join(dataDir, STATE_FILE);
  const state = parseState(path, await readFile(path, 'utf8'));
  if (state.port !== port) await writeAtomically(path, stateText({ ...state, port }));
}

/**
 * Creates the folder and returns the account of its owner. A folder of an ordinary user keeps its
 * owner when root uses it later.
 */
async function prepareFolder(dir: string, isRoot: boolean): Promise<Account | undefined> {
  const existing = await stat(dir).catch(() => undefined);
  if (existing !== undefined && !(isRoot && existing.uid === 0)) {
    return isRoot ? { uid: existing.uid, gid: existing.gid } : undefined;
  }
  const account = isRoot ? await findUnprivilegedAccount() : undefined;
  const base = dirname(dir);
  if ((await mkdir(base, { recursive: true })) !== undefined && account !== undefined) await chmod(base, 0o755);
  await mkdir(dir, { recursive: true });
  await chmod(dir, 0o700);
  if (account !== undefined) await chown(dir, account.uid, account.gid);
  return account;
}

function parseState(path: string, text: string): z.infer<typeof stateSchema> {
  try {
    return stateSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new EmbeddedPostgresError('state_invalid', `${path} is damaged: restore it from a backup.`, { cause: error });
  }
}

function stateText(state: z.infer<typeof stateSchema>): string {
  return `${JSON.stringify(state, null, 2)}\n`;
}

async function readOrCreate(path: string, schema: z.ZodType<string>, create: () => string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    text = create();
    await writeAtomically(path, text);
  }
  const parsed = schema.safeParse(text);
  if (!parsed.success) {
    throw new EmbeddedPostgresError('state_invalid', `${path} is damaged: restore it from a backup.`);
  }
  return parsed.data;
}

async function writeAtomically(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await rename(draft, path);
}

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
