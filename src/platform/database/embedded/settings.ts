import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Failures of the embedded PostgreSQL that callers can distinguish. */
export type EmbeddedPostgresErrorCode =
  | 'unsupported_platform'
  | 'binaries_missing'
  | 'no_unprivileged_account'
  | 'state_invalid'
  | 'lock_timeout'
  | 'initdb_failed'
  | 'version_mismatch'
  | 'start_failed'
  | 'stop_failed'
  | 'access_denied'
  | 'in_use';

/** A failure of the embedded PostgreSQL. `message` tells the operator what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  constructor(
    readonly code: EmbeddedPostgresErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Account that runs PostgreSQL if this process is root, because PostgreSQL refuses to run as root.
 */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

const CANDIDATES = ['postgres', '_postgres', 'nobody'] as const;

/**
 * Finds an unprivileged account: `postgres` if the system has it, otherwise `nobody`.
 * @throws EmbeddedPostgresError `no_unprivileged_account`
 */
export async function findUnprivilegedAccount(): Promise<Account> {
  for (const name of CANDIDATES) {
    const [uid, gid] = await Promise.all([idOf('-u', name), idOf('-g', name)]);
    if (uid !== undefined && gid !== undefined && uid !== 0) return { uid, gid };
  }
  throw new EmbeddedPostgresError(
    'no_unprivileged_account',
    `PostgreSQL refuses to run as root, and none of the accounts ${CANDIDATES.join(', ')} exists. ` +
      'Start this program as an ordinary user, or set DATABASE_URL to a PostgreSQL server of your own.',
  );
}

async function idOf(flag: '-u' | '-g', name: string): Promise<number | undefined> {
  try {
    const { stdout } = await promisify(execFile)('id', [flag, name]);
    const id = Number(stdout.trim());
    return Number.isSafeInteger(id) && id >= 0 ? id : undefined;
  } catch {
    return undefined;
  }
}

export const HOST = '127.0.0.1';
export const SUPERUSER = 'consent_ledger';
export const DATABASE = 'consent_ledger';
/** Exists in every cluster. Connections that need no table of the service use it. */
export const MAINTENANCE_DATABASE = 'postgres';

/**
 * Returns PostgreSQL's settings as command-line arguments, which a later ALTER SYSTEM cannot
 * weaken.
 *
 * Durability is set explicitly although it is the default, because a 202 response promises it.
 * Error logs contain neither statement nor detail, because both may contain personal data.
 */
export function serverArguments(clusterDir: string, port: number): string[] {
  const settings: Record<string, string> = {
    listen_addresses: HOST,
    port: String(port),
    unix_socket_directories: '',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    wal_compression: 'off',
    shared_buffers: '128MB',
    // A process of the service opens about 30.
    max_connections: '300',
    max_wal_size: '1GB',
    checkpoint_timeout: '10min',
    jit: 'off',
    password_encryption: 'scram-sha-256',
    logging_collector: 'off',
    log_min_messages: 'warning',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
  };
  return ['-D', clusterDir, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}

/**
 * Returns the options for starting a PostgreSQL program. Its environment contains no PGxxx variable
 * of the user.
 */
export function spawnOptions(home: string, libDir: string, account: Account | undefined) {
  const kept = ['PATH', 'SystemRoot', 'TEMP', 'TMP'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    // The account may not have access to the working directory of the caller.
    cwd: process.platform === 'win32' ? home : '/',
    env: { ...Object.fromEntries(kept), HOME: home, LC_ALL: 'C', LD_LIBRARY_PATH: libDir, DYLD_LIBRARY_PATH: libDir },
    windowsHide: true,
    ...(account ?? {}),
  };
}
