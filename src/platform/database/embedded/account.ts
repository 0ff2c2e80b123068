import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './errors.js';

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
