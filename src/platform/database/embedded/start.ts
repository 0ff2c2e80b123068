import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { clusterDirOf, type Home, initialiseCluster, recordPort } from './home.js';
import {
  chooseFreePort,
  findPostmaster,
  removeStalePidFile,
  type StartAttempt,
  spawnPostmaster,
} from './postmaster.js';
import { findPostgresPackage, installRuntime, removeOtherRuntimes } from './runtime.js';
import { DATABASE, EmbeddedPostgresError, HOST, MAINTENANCE_DATABASE, SUPERUSER } from './settings.js';

/**
 * Application name of the connections that mark the server as in use: see `openEmbeddedPostgres`.
 */
export const LEASE_NAME = 'consent-ledger lease';

const POLL_MS = 40;
/** Maximum wait without progress. */
const STALL_MS = 60_000;
/** Maximum wait while PostgreSQL reports crash recovery. */
const RECOVERY_MS = 30 * 60_000;

/** A connection to the running server. While it is open, no process stops the server. */
export interface Lease {
  readonly client: pg.Client;
  readonly port: number;
  /** Resolves when the connection has ended, even if it ended before this was awaited. */
  readonly ended: Promise<void>;
}

export interface StartOptions {
  /** True if only the recorded port is acceptable, because clients already use its address. */
  readonly keepPort?: boolean;
  /** Cancels the wait. */
  readonly signal?: AbortSignal;
}

/**
 * Attaches to the server of `home`. Starts it first if it does not run: after an orderly stop,
 * after a kill, or for the first time. The caller holds the lock of `dataDir`.
 * @throws EmbeddedPostgresError `start_failed`, `access_denied`, `version_mismatch`,
 *   `initdb_failed`, …
 */
export async function startOrAttach(dataDir: string, home: Home, options: StartOptions = {}): Promise<Lease> {
  const clusterDir = clusterDirOf(home.dir);
  const began = Date.now();
  let lastProgress = began;
  let attempt: StartAttempt | undefined;
  let trouble = '';
  let port = home.port;
  while (!options.signal?.aborted && Date.now() - lastProgress < STALL_MS && Date.now() - began < RECOVERY_MS) {
    const running = await findPostmaster(clusterDir);
    if (running !== undefined) {
      port = running.port ?? port;
      const answer = await connectLease(running.port ?? port, home.password);
      if (answer.outcome === 'connected')
        return await settle(dataDir, { client: answer.client, port, ended: answer.ended });
      if (answer.outcome === 'recovering') lastProgress = Date.now();
      trouble = answer.reason;
    } else if (attempt === undefined || attempt.hasExited()) {
      if (attempt !== undefined) {
        trouble = await attempt.output();
        if (!isPassing(trouble)) break;
        await sleep(POLL_MS * 5);
      }
      attempt = await start(home, port, options.keepPort === true, (chosen) => {
        port = chosen;
      });
    }
    await sleep(POLL_MS);
  }
  throw new EmbeddedPostgresError('start_failed', `PostgreSQL in ${home.dir} did not start: ${lastLines(trouble)}`);
}

async function start(home: Home, port: number, keepPort: boolean, onPort: (port: number) => void) {
  const source = await findPostgresPackage(process.platform, process.arch);
  const runtime = await installRuntime(source, home.dir, process.platform);
  await removeOtherRuntimes(source, home.dir);
  await initialiseCluster(home, runtime, source.major);
  await removeStalePidFile(clusterDirOf(home.dir));
  const chosen = keepPort ? port : await chooseFreePort(port);
  onPort(chosen);
  return spawnPostmaster(home, runtime, chosen);
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-6).join('\n');
}

/**
 * Returns whether a failed start is transient: remains of a killed server, or a port that another
 * program took.
 */
function isPassing(output: string): boolean {
  return /pre-existing shared memory block|lock file "postmaster\.pid" already exists|could not create any TCP\/IP sockets|Address already in use/.test(
    output,
  );
}

type Answer =
  | { readonly outcome: 'connected'; readonly client: pg.Client; readonly ended: Promise<void> }
  | { readonly outcome: 'recovering' | 'unreachable'; readonly reason: string };

async function connectLease(port: number, password: string): Promise<Answer> {
  const client = new pg.Client({
    host: HOST,
    port,
    user: SUPERUSER,
    password,
    database: MAINTENANCE_DATABASE,
    application_name: LEASE_NAME,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  // An idle client reports the loss of its connection with 'error' and 'end'. The owner listens to 'end'; an unhandled
  // 'error' would end the process.
  client.on('error', () => undefined);
  // Registered before the connection exists. Otherwise nobody would notice a server that is killed between its first
  // answer and the owner's watch.
  const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
  try {
    await client.connect();
    return { outcome: 'connected', client, ended };
  } catch (error) {
    await client.end().catch(() => undefined);
    const code = error instanceof pg.DatabaseError ? error.code : undefined;
    if (code === '28P01' || code === '28000') {
      throw new EmbeddedPostgresError(
        'access_denied',
        'The running PostgreSQL refuses the password in DATA_DIR/postgres.password: restore that file from a backup.',
        { cause: error },
      );
    }
    const reason = error instanceof Error ? error.message : String(error);
    return { outcome: code === '57P03' ? 'recovering' : 'unreachable', reason };
  }
}

async function settle(dataDir: string, lease: Lease): Promise<Lease> {
  try {
    await recordPort(dataDir, lease.port);
    const found = await lease.client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (found.rowCount === 0) await lease.client.query(`CREATE DATABASE ${DATABASE}`);
    return lease;
  } catch (error) {
    await lease.client.end();
    throw error;
  }
}
