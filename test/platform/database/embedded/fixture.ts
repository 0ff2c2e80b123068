import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import pg from 'pg';
import * as z from 'zod';
import { clusterDirOf } from '../../../../src/platform/database/embedded/home.js';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../../../../src/platform/database/embedded/index.js';
import { findPostmaster } from '../../../../src/platform/database/embedded/postmaster.js';
import type { Account } from '../../../../src/platform/database/embedded/settings.js';

/** One installation in a separate folder, with the operations of the tests. */
export interface Installation {
  readonly dataDir: string;
  readonly rootHomeBase: string;
  readonly log: string[];
  open(): Promise<EmbeddedPostgres>;
  /** Opens it in another process. */
  openElsewhere(): Promise<Holder>;
  remove(): Promise<void>;
}

export interface Holder {
  readonly process: ChildProcess;
  readonly url: string;
  /** Tells the process to release the server; resolves with its exit code. */
  release(): Promise<number | null>;
  kill(): Promise<void>;
}

export async function createInstallation(): Promise<Installation> {
  const dir = await mkdtemp(join(tmpdir(), 'consent-ledger-embedded-'));
  await chmod(dir, 0o755);
  const dataDir = join(dir, 'data');
  const rootHomeBase = join(dir, 'home');
  const log: string[] = [];
  const homes = new Set<string>();
  const open = async () => {
    const server = await openEmbeddedPostgres({ dataDir, rootHomeBase, log: (line) => log.push(line) });
    homes.add(server.home);
    return server;
  };
  return {
    dataDir,
    rootHomeBase,
    log,
    open,
    openElsewhere: () => spawnHolder(dataDir, rootHomeBase),
    remove: async () => {
      for (const home of homes) {
        const left = await findPostmaster(clusterDirOf(home));
        if (left !== undefined) await killAndWait(left.pid);
      }
      await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

async function spawnHolder(dataDir: string, rootHomeBase: string): Promise<Holder> {
  // Inside the project, where package imports resolve.
  const program = resolve('dist', `test-holder-${randomUUID()}.mjs`);
  await build({
    entryPoints: ['test/platform/database/embedded/holder.ts'],
    outfile: program,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  const child = spawn(process.execPath, [program, dataDir, rootHomeBase], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const first = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), exit]);
  await rm(program, { force: true });
  const { url } = z.object({ url: z.string() }).parse(JSON.parse(String(first[0])));
  return {
    process: child,
    url,
    release: async () => {
      child.stdin.end('release\n');
      await exit;
      return child.exitCode;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

export async function postmasterPid(server: EmbeddedPostgres): Promise<number | undefined> {
  return (await findPostmaster(clusterDirOf(server.home)))?.pid;
}

/** Kills a process without warning and waits until it has ended. */
export async function killAndWait(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  while (await isAlive(pid)) await sleep(20);
}

async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return !stat.includes(') Z ');
}

/** Runs one statement on a separate connection. */
export async function query(url: string, sql: string): Promise<unknown[]> {
  // While no server listens on an ephemeral port, a connection to it can be given that very port as
  // its own and so be connected to itself. It would wait for ever, and keep the server off its port.
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 30_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Returns the account that owns a home, for programs that a test starts there. */
export async function accountOf(home: string): Promise<Account | undefined> {
  const { uid, gid } = await stat(home);
  return process.getuid?.() === 0 ? { uid, gid } : undefined;
}
