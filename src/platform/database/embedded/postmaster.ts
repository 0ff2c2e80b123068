import { execFile, spawn } from 'node:child_process';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isPostmasterOf } from './file-lock.js';
import { clusterDirOf, type Home } from './home.js';
import type { PostgresRuntime } from './runtime.js';
import { EmbeddedPostgresError, HOST, serverArguments, spawnOptions } from './settings.js';

const LOG_LIMIT_BYTES = 10 * 1024 * 1024;
const STOP_TIMEOUT_S = 120;

/**
 * The postmaster that runs on these database files, started by any process. `port` is missing while
 * it starts.
 */
export interface Postmaster {
  readonly pid: number;
  readonly port: number | undefined;
}

/**
 * @returns the running postmaster, or `undefined`; the `postmaster.pid` of a dead one does not
 *   count
 */
export async function findPostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0 || !(await isPostmasterOf(pid, clusterDir))) return undefined;
  const port = Number(lines[3]);
  return { pid, port: Number.isSafeInteger(port) && port > 0 ? port : undefined };
}

/**
 * Deletes a `postmaster.pid` whose process id now belongs to another program. PostgreSQL would
 * mistake that program for a running server. PostgreSQL itself checks that the shared memory of the
 * old server is unused.
 * The caller has found no postmaster and holds the lock.
 */
export async function removeStalePidFile(clusterDir: string): Promise<void> {
  await rm(join(clusterDir, 'postmaster.pid'), { force: true });
}

/** An attempt to start the server. */
export interface StartAttempt {
  /** Returns whether the process has ended, which means that the start failed. */
  hasExited(): boolean;
  /** Returns the output of PostgreSQL since the attempt began. */
  output(): Promise<string>;
}

/**
 * Starts a postmaster in its own session, so neither Ctrl-C nor the death of this process reaches
 * it. It writes to `postgres.log` in its home; one older log file is kept.
 */
export async function spawnPostmaster(home: Home, runtime: PostgresRuntime, port: number): Promise<StartAttempt> {
  const logPath = join(home.dir, 'postgres.log');
  const before = await stat(logPath).catch(() => undefined);
  if (before !== undefined && before.size > LOG_LIMIT_BYTES) await rename(logPath, `${logPath}.1`);
  const log = await open(logPath, 'a', 0o600);
  const start = (await log.stat()).size;
  let exited = false;
  try {
    const child = spawn(runtime.postgres, serverArguments(clusterDirOf(home.dir), port), {
      ...spawnOptions(home.dir, runtime.libDir, home.account),
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    child.once('exit', () => {
      exited = true;
    });
    child.once('error', () => {
      exited = true;
    });
    child.unref();
  } finally {
    await log.close();
  }
  return {
    hasExited: () => exited,
    output: async () => (await readFile(logPath)).subarray(start).toString('utf8').slice(-4000),
  };
}

/**
 * Stops the postmaster: disconnects the clients and writes all data to disk. Returns when the
 * server has stopped.
 */
export async function stopPostmaster(home: Home, runtime: PostgresRuntime): Promise<void> {
  const clusterDir = clusterDirOf(home.dir);
  try {
    await promisify(execFile)(
      runtime.pgCtl,
      ['stop', '-D', clusterDir, '-m', 'fast', '-w', '-t', String(STOP_TIMEOUT_S), '-s'],
      spawnOptions(home.dir, runtime.libDir, home.account),
    );
  } catch (error) {
    if ((await findPostmaster(clusterDir)) === undefined) return;
    const reason = error instanceof Error ? error.message : String(error);
    throw new EmbeddedPostgresError('stop_failed', `PostgreSQL did not stop: ${reason}`, { cause: error });
  }
}

/**
 * @returns `preferred` if no process listens there and it is not 0, otherwise a port that the
 *   system chooses
 */
export async function chooseFreePort(preferred: number): Promise<number> {
  return (preferred === 0 ? undefined : await tryListen(preferred)) ?? (await tryListen(0)) ?? 0;
}

async function tryListen(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ host: HOST, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : undefined));
    });
  });
}
