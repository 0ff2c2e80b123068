import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { processStart, withFileLock } from '../../src/platform/database/embedded/file-lock.js';
import { openEmbeddedPostgres } from '../../src/platform/database/embedded/index.js';
import { migrate } from '../../src/platform/database/migrate.js';
import { loadMigrations } from '../../src/platform/database/migrations.js';
import { createPool } from '../../src/platform/database/pool.js';
import { countDatabase } from './usage.js';
import { PATIENCE_MS } from './wait.js';

export interface TestDatabase {
  /** Connection string of the superuser to a database of this caller only. */
  readonly url: string;
  /** Drops the database and disconnects its clients. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** False for an empty database; otherwise it contains the whole schema. */
  readonly migrated?: boolean;
}

const TEMPLATE = 'test_template';

/**
 * Creates a database on the temporary server of this test run. All workers share the server, which
 * is a real one with fsync on. A separate process removes the server with its files after any end
 * of the run.
 */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { url } = await testServer();
  return copyOf(url, options.migrated === false ? 'template1' : TEMPLATE);
}

async function copyOf(serverUrl: string, template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(serverUrl, async (client) => {
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
  });
  countDatabase();
  return { url: withDatabase(serverUrl, name), drop: () => drop(serverUrl, name) };
}

/**
 * How often `drop` looks whether connections that their pools have ended are closed. Looks are counted,
 * because on a busy machine each of them takes longer, as the closing does.
 */
const LOOKS = 100;

/**
 * Drops a database. A pool resolves `end` before its connections are closed, and the message by which
 * PostgreSQL then ends one finds no listener any more: the run would fail. Those still open after a
 * while are in use by intent.
 */
async function drop(serverUrl: string, name: string): Promise<void> {
  await administer(serverUrl, async (client) => {
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const { rowCount } = await client.query(
        `SELECT FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`,
        [name],
      );
      if (rowCount === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
}

/**
 * Copies a database of `createTestDatabase`, which no process may use meanwhile: as a restored backup.
 * @param url the original
 */
export function copyTestDatabase(url: string): Promise<TestDatabase> {
  return copyOf(url, new URL(url).pathname.slice(1));
}

/** A copy of a database as of one moment. */
export interface Backup {
  /** Puts the copy in the place of the original, whose clients are disconnected. */
  restore(): Promise<void>;
}

/**
 * Copies a database of `createTestDatabase`. Its idle connections are closed: pools open new ones.
 * @param url the original
 */
export async function backUpTestDatabase(url: string): Promise<Backup> {
  const original = new URL(url).pathname.slice(1);
  const name = `test_${randomBytes(8).toString('hex')}`;
  await administer(url, async (client) => {
    await disconnect(client, original);
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${original} STRATEGY FILE_COPY`);
  });
  return {
    restore: () =>
      administer(url, async (client) => {
        await client.query(`DROP DATABASE ${original} WITH (FORCE)`);
        await client.query(`ALTER DATABASE ${name} RENAME TO ${original}`);
      }),
  };
}

async function disconnect(client: pg.Client, database: string): Promise<void> {
  const others = 'FROM pg_stat_activity WHERE datname = $1';
  await client.query(`SELECT pg_terminate_backend(pid) ${others}`, [database]);
  while ((await client.query(`SELECT ${others}`, [database])).rowCount !== 0)
    await new Promise((resolve) => setTimeout(resolve, 20));
}

let sharedServer: Promise<{ url: string }> | undefined;

function testServer(): Promise<{ url: string }> {
  sharedServer ??= openTestServer();
  return sharedServer;
}

async function openTestServer(): Promise<{ url: string }> {
  // Vitest's workers are children of one process, the run. The server ends with it.
  const run = process.ppid;
  const identity = createHash('sha256')
    .update(`${run} ${await processStart(run)}`)
    .digest('hex')
    .slice(0, 12);
  const dir = join(tmpdir(), `consent-ledger-test-${identity}`);
  await mkdir(dir, { recursive: true });
  await chmod(dir, 0o755);
  return withFileLock(join(dir, 'setup.lock'), PATIENCE_MS, async () => {
    const server = await openEmbeddedPostgres({
      dataDir: join(dir, 'data'),
      rootHomeBase: join(dir, 'home'),
      log: () => undefined,
    });
    await administer(server.superuserUrl, async (client) => {
      const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [TEMPLATE]);
      if (found.rowCount !== 0) return;
      spawnRemover(run, dir, server.home);
      await makeTemplate(client, server.superuserUrl);
    });
    return { url: server.superuserUrl };
  });
}

async function makeTemplate(client: pg.Client, serverUrl: string): Promise<void> {
  const draft = `${TEMPLATE}_draft`;
  await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${draft}`);
  const pool = createPool({
    url: withDatabase(serverUrl, draft),
    applicationName: 'test migrations',
    maxConnections: 1,
    statementTimeoutMs: 60_000,
    onIdleError: () => undefined,
  });
  await migrate(pool, loadMigrations());
  await pool.end();
  await client.query(`ALTER DATABASE ${draft} RENAME TO ${TEMPLATE}`);
}

/**
 * Starts a process that waits for the end of the run, stops the server immediately and removes its
 * files.
 */
function spawnRemover(run: number, dir: string, home: string): void {
  const script = `
    const fs = require('node:fs');
    const isZombie = (pid) => {
      try { return fs.readFileSync('/proc/' + pid + '/stat', 'utf8').includes(') Z '); } catch { return false; }
    };
    const alive = (pid) => { try { process.kill(pid, 0); return !isZombie(pid); } catch { return false; } };
    const wait = (pid, then) => alive(pid) ? setTimeout(wait, 200, pid, then) : then();
    const [run, dir, home] = process.argv.slice(1);
    wait(Number(run), () => {
      let pid = 0;
      try { pid = Number(fs.readFileSync(home + '/data/postmaster.pid', 'utf8').split('\\n')[0]); } catch {}
      // Workers that outlive the run would start the server again: they do not find it under another name.
      const gone = dir + '.gone';
      fs.renameSync(dir, gone);
      const remove = () => fs.rmSync(gone, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
      if (pid > 0 && alive(pid)) { process.kill(pid, 'SIGQUIT'); wait(pid, remove); } else remove();
    });`;
  spawn(process.execPath, ['-e', script, String(run), dir, home], { detached: true, stdio: 'ignore' }).unref();
}

async function administer(serverUrl: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: withDatabase(serverUrl, 'postgres') });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.toString();
}
