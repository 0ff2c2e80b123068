import { access, mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withFileLock } from './file-lock.js';
import { clusterDirOf, type Home, LOCK_FILE, openHome, PASSWORD_FILE, STATE_FILE } from './home.js';
import { findPostmaster, stopPostmaster } from './postmaster.js';
import { findPostgresPackage, installRuntime } from './runtime.js';
import { DATABASE, EmbeddedPostgresError, HOST, SUPERUSER } from './settings.js';
import { LEASE_NAME, type Lease, startOrAttach } from './start.js';

export interface EmbeddedPostgresOptions {
  /** `DATA_DIR`, which is created if it is missing. */
  readonly dataDir: string;
  /**
   * Receives one line for the operator: the location of the files, or a restart of the server after
   * a crash.
   */
  readonly log: (line: string) => void;
  /** Parent folder of new homes if this process runs as root. */
  readonly rootHomeBase?: string;
}

/** A running PostgreSQL, shared by every process that has opened the same `DATA_DIR`. */
export interface EmbeddedPostgres {
  /**
   * Connection string of the superuser to the database of the service. It is valid for the lifetime
   * of the handle.
   */
  readonly superuserUrl: string;
  readonly host: string;
  readonly port: number;
  /** Folder of the database files and of `postgres.log`. */
  readonly home: string;
  /**
   * Releases the server; the caller ends its pools first. The last process to release stops the
   * server. The server keeps running while another process uses it or any other client is
   * connected. May be called twice.
   */
  release(): Promise<void>;
}

const LOCK_TIMEOUT_MS = 31 * 60_000;
const LINGER_MS = 2_000;
const MAX_BACKOFF_MS = 10_000;

/**
 * Attaches to the embedded PostgreSQL of a data folder, or starts it.
 *
 * Each handle keeps one connection open, its *lease*. The server identifies its users by these
 * connections, and the lease of a killed process ends with it. When the server dies, the lease
 * breaks, and the handle restarts the server on the same port. Starting, attaching and stopping
 * happen under a lock file in the data folder.
 * @throws EmbeddedPostgresError
 */
export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const locked = <T>(work: () => Promise<T>) => withFileLock(join(dataDir, LOCK_FILE), LOCK_TIMEOUT_MS, work);
  const base = options.rootHomeBase ?? '/var/lib/consent-ledger';
  const opened = await locked(async () => {
    const home = await openHome(dataDir, base, options.log);
    return { home, lease: await startOrAttach(dataDir, home) };
  });
  return supervise(dataDir, opened.home, opened.lease, options.log, locked);
}

function supervise(
  dataDir: string,
  home: Home,
  firstLease: Lease,
  log: (line: string) => void,
  locked: <T>(work: () => Promise<T>) => Promise<T>,
): EmbeddedPostgres {
  const { port } = firstLease;
  const releasing = new AbortController();
  let lease = firstLease;
  let isConnected = true;
  let recovery: Promise<void> = Promise.resolve();
  let release: Promise<void> | undefined;

  const watch = (): void => {
    isConnected = true;
    void lease.ended.then(() => {
      isConnected = false;
      if (!releasing.signal.aborted) recovery = recover();
    });
  };
  const recover = async (): Promise<void> => {
    log('The embedded PostgreSQL stopped unexpectedly; starting it again.');
    for (let delay = 50; !releasing.signal.aborted; delay = Math.min(delay * 2, MAX_BACKOFF_MS)) {
      try {
        lease = await locked(() =>
          startOrAttach(dataDir, { ...home, port }, { keepPort: true, signal: releasing.signal }),
        );
        watch();
        log('The embedded PostgreSQL runs again.');
        return;
      } catch (error) {
        if (releasing.signal.aborted) return;
        log(`The embedded PostgreSQL could not be started again: ${error instanceof Error ? error.message : error}`);
        await sleep(delay, undefined, { signal: releasing.signal }).catch(() => undefined);
      }
    }
  };
  const leave = async (): Promise<void> => {
    releasing.abort();
    await recovery;
    await locked(async () => {
      const isRunning = (await findPostmaster(clusterDirOf(home.dir))) !== undefined;
      // Released during a restart: only a connection can show whether other processes use the
      // server.
      if (isRunning && !isConnected) lease = await startOrAttach(dataDir, { ...home, port }, { keepPort: true });
      const mayStop = isRunning && (await isLastOut(lease, log));
      await lease.client.end().catch(() => undefined);
      if (!mayStop) return;
      const source = await findPostgresPackage(process.platform, process.arch);
      await stopPostmaster(home, await installRuntime(source, home.dir, process.platform));
    });
  };
  watch();
  return {
    superuserUrl: `postgresql://${SUPERUSER}:${home.password}@${HOST}:${port}/${DATABASE}`,
    host: HOST,
    port,
    home: home.dir,
    release: () => {
      release ??= leave();
      return release;
    },
  };
}

/**
 * Returns whether the server may stop. Connections that this process has just closed disappear with
 * a delay.
 */
async function isLastOut(lease: Lease, log: (line: string) => void): Promise<boolean> {
  const deadline = Date.now() + LINGER_MS;
  for (;;) {
    let others: { leases: string; clients: string } | undefined;
    try {
      const result = await lease.client.query<{ leases: string; clients: string }>(
        `SELECT count(*) FILTER (WHERE application_name = $1) AS leases, count(*) AS clients
           FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
        [LEASE_NAME],
      );
      others = result.rows[0];
    } catch {
      return false;
    }
    if (others === undefined || others.clients === '0') return true;
    if (others.leases !== '0') return false;
    if (Date.now() > deadline) {
      log('The embedded PostgreSQL keeps running, because another client is connected to it.');
      return false;
    }
    await sleep(20);
  }
}

const REMOVE_TIMEOUT_MS = 60_000;

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
  await withFileLock(join(dataDir, LOCK_FILE), REMOVE_TIMEOUT_MS, async () => {
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
