import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { type Account, findUnprivilegedAccount } from '../../src/platform/database/embedded/settings.js';
import { freePort } from './free-port.js';
import { systemPostgresPrograms } from './system-postgres.js';
import { until } from './wait.js';

const PASSWORD = 'of-the-test';
/** Shorter than the values that Patroni starts with, so that a test does not wait half a minute. */
const PATRONI_SECONDS = { ttl: 10, loop_wait: 2, retry_timeout: 3 };

/** Programs of a cluster, by name, that this machine lacks. */
export function missingForPatroni(): readonly string[] {
  const missing = ['patroni', 'etcd', 'haproxy'].filter((name) => programPath(name) === undefined);
  return systemPostgresPrograms() === null ? [...missing, 'postgresql'] : missing;
}

/** Debian has some in /usr/sbin, which is not in each PATH. */
function programPath(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Starts programs as an account that PostgreSQL permits, and ends them with the test run. */
class Programs {
  readonly #children: ChildProcess[] = [];

  constructor(private readonly account: Account | undefined) {}

  start(name: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    const child = spawn(programPath(name) ?? name, args, {
      ...this.account,
      cwd: '/',
      stdio: 'ignore',
      env: { PATH: process.env.PATH, ...env },
    });
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    this.#children.push(child);
    return child;
  }

  async endAll(): Promise<void> {
    await Promise.all(this.#children.map(killed));
  }
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** One node: Patroni, and the server that it runs. */
export class PatroniNode {
  #patroni: ChildProcess | null = null;

  constructor(
    readonly name: string,
    private readonly folder: string,
    private readonly programs: Programs,
    readonly port: number,
    readonly restPort: number,
  ) {}

  start(): void {
    this.#patroni = this.programs.start('patroni', [join(this.folder, `${this.name}.json`)]);
  }

  /** Sends a signal to processes of the node. @param which `server`: those of PostgreSQL alone */
  async signal(signal: NodeJS.Signals, which: 'node' | 'server' = 'node'): Promise<void> {
    const postmaster = Number((await readFile(join(this.folder, this.name, 'postmaster.pid'), 'utf8')).split('\n')[0]);
    const patroni = this.#patroni?.pid;
    const roots = which === 'server' || patroni === undefined ? [postmaster] : [patroni, postmaster];
    for (const pid of withDescendants(roots)) {
      try {
        process.kill(pid, signal);
      } catch {
        // It ended meanwhile.
      }
    }
  }

  /** Whether Patroni states that the node is the leader. */
  async leads(): Promise<boolean> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.restPort}/primary`, { signal: AbortSignal.timeout(1_000) });
      await response.arrayBuffer();
      return response.status === 200;
    } catch {
      return false;
    }
  }

  /** Whether the node follows the leader as its synchronous standby. */
  async isSynchronous(): Promise<boolean> {
    try {
      const response = await fetch(`http://127.0.0.1:${this.restPort}/synchronous`, {
        signal: AbortSignal.timeout(1_000),
      });
      await response.arrayBuffer();
      return response.status === 200;
    } catch {
      return false;
    }
  }

  /** Connection string to this server, whatever its role. */
  get url(): string {
    return `postgresql://administrator:${PASSWORD}@127.0.0.1:${this.port}/postgres`;
  }
}

function withDescendants(roots: readonly number[]): readonly number[] {
  const found = [...roots];
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  // An array is iterated with the elements that are added meanwhile.
  for (const parent of found)
    for (const [pid = 0, ppid] of rows) if (ppid === parent && !found.includes(pid)) found.push(pid);
  return found;
}

export interface PatroniOptions {
  /** Whether HAProxy ends the sessions of a server that is no leader any more. */
  readonly endsSessions: boolean;
}

/**
 * Two servers of PostgreSQL with synchronous replication under Patroni, etcd, and HAProxy as
 * docs/high-availability.md sets it up.
 */
export class PatroniCluster {
  private constructor(
    private readonly folder: string,
    private readonly programs: Programs,
    readonly nodes: readonly PatroniNode[],
    /** Connection string through HAProxy. */
    readonly url: string,
  ) {}

  static async start({ endsSessions }: PatroniOptions): Promise<PatroniCluster> {
    const account = process.getuid?.() === 0 ? await findUnprivilegedAccount() : undefined;
    const folder = await mkdtemp(join(tmpdir(), 'patroni-'));
    await chmod(folder, 0o755);
    if (account !== undefined) await chown(folder, account.uid, account.gid);
    const programs = new Programs(account);
    const [etcd, peer, address] = [await freePort(), await freePort(), await freePort()];
    const nodes: PatroniNode[] = [];
    for (const name of ['a', 'b']) {
      const node = new PatroniNode(name, folder, programs, await freePort(), await freePort());
      const data = join(folder, name);
      await mkdir(data, { mode: 0o700 });
      if (account !== undefined) await chown(data, account.uid, account.gid);
      await writeFile(join(folder, `${name}.json`), JSON.stringify(settingsOf(node, folder, data, etcd)));
      nodes.push(node);
    }
    await writeFile(join(folder, 'haproxy.cfg'), haproxyOf(address, nodes, endsSessions));
    const cluster = new PatroniCluster(
      ...[folder, programs, nodes],
      `postgresql://administrator:${PASSWORD}@127.0.0.1:${address}/postgres`,
    );
    const [client, toPeers] = [`http://127.0.0.1:${etcd}`, `http://127.0.0.1:${peer}`];
    programs.start('etcd', [
      ...['--data-dir', join(folder, 'etcd'), '--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', toPeers, '--initial-advertise-peer-urls', toPeers],
      ...['--initial-cluster', `default=${toPeers}`, '--enable-v2'],
    ]);
    await until(() => answers(`${client}/health`));
    const [first, second] = nodes;
    first?.start();
    await until(async () => first?.leads());
    second?.start();
    await until(async () => second?.isSynchronous());
    programs.start('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')]);
    // HAProxy sends sessions to each server, also to the standby, until its first checks are done.
    await until(() => leadsAlways(cluster.url, 2 * nodes.length));
    return cluster;
  }

  /** The node that leads. @throws Error if none does */
  async leader(): Promise<PatroniNode> {
    for (const node of this.nodes) if (await node.leads()) return node;
    throw new Error('no node leads');
  }

  async close(): Promise<void> {
    for (const node of this.nodes) await node.signal('SIGKILL').catch(() => undefined);
    await this.programs.endAll();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

function settingsOf(node: PatroniNode, folder: string, data: string, etcd: number): unknown {
  const user = (username: string) => ({ username, password: PASSWORD });
  return {
    scope: 'consent-ledger',
    name: node.name,
    restapi: { listen: `127.0.0.1:${node.restPort}`, connect_address: `127.0.0.1:${node.restPort}` },
    // By version 2 of its interface: Patroni before 3.0.3 overwrites the leader's key by version 3 (docs/high-availability.md).
    etcd: { host: `127.0.0.1:${etcd}` },
    bootstrap: {
      dcs: {
        ...PATRONI_SECONDS,
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 200, wal_log_hints: 'on' } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
      pg_hba: ['host all all 127.0.0.1/32 md5', 'host replication all 127.0.0.1/32 md5', 'local all all trust'],
    },
    postgresql: {
      listen: `127.0.0.1:${node.port}`,
      connect_address: `127.0.0.1:${node.port}`,
      data_dir: data,
      bin_dir: systemPostgresPrograms(),
      pgpass: join(folder, `${node.name}.pgpass`),
      authentication: {
        superuser: user('administrator'),
        replication: user('replicator'),
        rewind: user('rewinder'),
      },
      parameters: { unix_socket_directories: folder, synchronous_commit: 'on' },
    },
    watchdog: { mode: 'off' },
  };
}

function haproxyOf(port: number, nodes: readonly PatroniNode[], endsSessions: boolean): string {
  return [
    'defaults',
    '    mode tcp',
    '    timeout connect 4s',
    '    timeout client 1h',
    '    timeout server 1h',
    'listen consent-ledger',
    `    bind 127.0.0.1:${port}`,
    '    option httpchk OPTIONS /primary',
    '    http-check expect status 200',
    `    default-server inter 1s fall 2 rise 1 ${endsSessions ? 'on-marked-down shutdown-sessions' : ''}`,
    ...nodes.map(
      ({ name, port: own, restPort }) => `    server ${name} 127.0.0.1:${own} check port ${restPort} maxconn 200`,
    ),
    '',
  ].join('\n');
}

/** Whether so many new sessions in a row reach a server that accepts writes: HAProxy takes its servers in turn. */
async function leadsAlways(url: string, sessions: number): Promise<boolean> {
  for (let session = 0; session < sessions; session += 1) if (!(await acceptsWrites(url))) return false;
  return true;
}

async function acceptsWrites(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
    return rows[0]?.standby === false;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
