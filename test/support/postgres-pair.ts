import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import * as z from 'zod';
import { clusterDirOf, type Home, initialiseCluster } from '../../src/platform/database/embedded/home.js';
import {
  findPostgresPackage,
  installRuntime,
  type PostgresRuntime,
} from '../../src/platform/database/embedded/runtime.js';
import {
  DATABASE,
  findUnprivilegedAccount,
  HOST,
  MAINTENANCE_DATABASE,
  SUPERUSER,
  serverArguments,
  spawnOptions,
} from '../../src/platform/database/embedded/settings.js';
import { migrate } from '../../src/platform/database/migrate.js';
import { loadMigrations } from '../../src/platform/database/migrations.js';
import { createPool } from '../../src/platform/database/pool.js';
import { FaultyProxy } from './faulty-proxy.js';
import { freePort } from './free-port.js';

const POLL_MS = 50;

/** One PostgreSQL server of a test, on a copy of a migrated cluster. */
export class PostgresServer {
  #child: ChildProcess | null = null;

  constructor(
    private readonly home: Home,
    private readonly runtime: PostgresRuntime,
    readonly port: number,
  ) {}

  get url(): string {
    return `postgresql://${SUPERUSER}:${this.home.password}@${HOST}:${this.port}/${DATABASE}`;
  }

  get target(): { readonly host: string; readonly port: number } {
    return { host: HOST, port: this.port };
  }

  /** Starts the server, and waits until it accepts connections. */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const options = spawnOptions(this.home.dir, this.runtime.libDir, this.home.account);
    this.#child = spawn(this.runtime.postgres, [...serverArguments(clusterDirOf(this.home.dir), this.port), ...args], {
      ...options,
      stdio: 'ignore',
    });
    const child = this.#child;
    // The server ends with a test run that is interrupted.
    const end = () => child.kill('SIGQUIT');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    const answers = () =>
      this.query('select 1', MAINTENANCE_DATABASE).then(
        () => true,
        () => false,
      );
    while (!(await answers())) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error('the server ended while it started');
      await sleep(POLL_MS);
    }
  }

  /** Ends the server as its crash would. */
  kill(): Promise<void> {
    return this.#end('SIGQUIT');
  }

  stop(): Promise<void> {
    return this.#end('SIGINT');
  }

  /** Makes a primary of a standby, with what it has received. */
  async promote(): Promise<void> {
    await this.query('select pg_promote(true, 60)');
  }

  async query(sql: string, database = DATABASE): Promise<unknown[]> {
    const url = new URL(this.url);
    url.pathname = `/${database}`;
    const client = new pg.Client({ connectionString: url.href });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async count(sql: string): Promise<number> {
    const rows = z
      .tuple([z.object({ n: z.coerce.number() })])
      .parse(await this.query(`select count(*) as n from ${sql}`));
    return rows[0].n;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

/** A primary and its standby, whose connection goes through a proxy. */
export interface PostgresPair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  /** Resolves when the standby has replayed what the primary has written until now. */
  caughtUp(): Promise<void>;
  /** From now on nothing reaches the standby, which lags. */
  cutReplication(): void;
  close(): Promise<void>;
}

/** A migrated cluster that does not run; each pair works on copies of it. */
export class MigratedCluster {
  private constructor(
    private readonly folder: string,
    private readonly home: Home,
    private readonly runtime: PostgresRuntime,
  ) {}

  static async make(): Promise<MigratedCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'postgres-pair-'));
    await chmod(folder, 0o755);
    const account = process.getuid?.() === 0 ? await findUnprivilegedAccount() : undefined;
    const home: Home = { dir: join(folder, 'base'), account, port: 0, password: randomBytes(18).toString('base64url') };
    await makeHome(home);
    const source = await findPostgresPackage(process.platform, process.arch);
    const runtime = await installRuntime(source, folder, process.platform);
    await initialiseCluster(home, runtime, source.major);
    const server = new PostgresServer(home, runtime, await freePort());
    await server.start();
    await server.query(`create database ${DATABASE}`, MAINTENANCE_DATABASE);
    const pool = createPool({
      url: server.url,
      applicationName: 'test migrations',
      maxConnections: 1,
      statementTimeoutMs: 60_000,
      onIdleError: () => undefined,
    });
    await migrate(pool, loadMigrations());
    await pool.end();
    await server.stop();
    return new MigratedCluster(folder, home, runtime);
  }

  /** @param synchronous whether a commit of the primary waits for the standby */
  async openPair({ synchronous }: { readonly synchronous: boolean }): Promise<PostgresPair> {
    const primary = await this.#copy('primary');
    const standby = await this.#copy('standby');
    const replication = await FaultyProxy.start(primary.server.target);
    await writeFile(join(clusterDirOf(standby.home.dir), 'standby.signal'), '');
    await chownTo(standby.home);
    await primary.server.start();
    const { password } = this.home;
    await standby.server.start({
      primary_conninfo: `host=${HOST} port=${replication.port} user=${SUPERUSER} password=${password} application_name=standby`,
      wal_retrieve_retry_interval: '100ms',
    });
    const isStreaming = () => primary.server.count(`pg_stat_replication where state = 'streaming'`);
    while ((await isStreaming()) === 0) await sleep(POLL_MS);
    if (synchronous) {
      await primary.server.query(`alter system set synchronous_standby_names = '*'`);
      await primary.server.query('select pg_reload_conf()');
      while ((await primary.server.count(`pg_stat_replication where sync_state = 'sync'`)) === 0) await sleep(POLL_MS);
    }
    let closing: Promise<void> | null = null;
    return {
      primary: primary.server,
      standby: standby.server,
      caughtUp: async () => {
        const rows = await primary.server.query('select pg_current_wal_flush_lsn()::text as lsn');
        const [{ lsn }] = z.tuple([z.object({ lsn: z.string() })]).parse(rows);
        const behind = `(select 1 where pg_last_wal_replay_lsn() >= '${lsn}') s`;
        while ((await standby.server.count(behind)) === 0) await sleep(POLL_MS);
      },
      cutReplication: () => replication.refuseConnections(),
      // Both addresses of a pair close it.
      close: () => {
        closing ??= (async () => {
          await replication.close();
          for (const { server, home } of [primary, standby]) {
            await server.kill();
            await rm(home.dir, { recursive: true, force: true });
          }
        })();
        return closing;
      },
    };
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #copy(name: string): Promise<{ readonly server: PostgresServer; readonly home: Home }> {
    const home = { ...this.home, dir: join(this.folder, `${name}-${randomBytes(4).toString('hex')}`) };
    await makeHome(home);
    await cp(clusterDirOf(this.home.dir), clusterDirOf(home.dir), { recursive: true });
    await chownTo(home);
    return { server: new PostgresServer(home, this.runtime, await freePort()), home };
  }
}

async function makeHome(home: Home): Promise<void> {
  await mkdir(home.dir);
  await chownTo(home);
  await chmod(home.dir, 0o700);
}

/** Copies made by root belong to root. */
async function chownTo({ dir, account }: Home): Promise<void> {
  if (account === undefined) return;
  const child = spawn('chown', ['-R', `${account.uid}:${account.gid}`, dir], { stdio: 'ignore' });
  await once(child, 'exit');
}
