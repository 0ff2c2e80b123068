import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findUnprivilegedAccount } from '../../src/platform/database/embedded/settings.js';
import { freePort } from './free-port.js';
import { until } from './wait.js';

/** Path of the program, if this machine has it. Debian has it in /usr/sbin, which is not in each PATH. */
export const pgbouncerPath = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  .map((folder) => join(folder, 'pgbouncer'))
  .find(isProgram);

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A PgBouncer in front of one database, which logs in as the user of the given URL. */
export class PgBouncer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    /** Connection string through the pooler. */
    readonly url: string,
  ) {}

  /** @param settings lines of the section `[pgbouncer]` */
  static async start(databaseUrl: string, settings: Readonly<Record<string, string | number>>): Promise<PgBouncer> {
    const server = new URL(databaseUrl);
    const name = server.pathname.slice(1);
    const port = await freePort();
    const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
    const target = `host=${server.hostname} port=${server.port} user=${server.username} password=${server.password}`;
    const all = { listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '', auth_type: 'any', ...settings };
    const lines = Object.entries(all).map(([key, value]) => `${key} = ${value}`);
    const file = join(folder, 'pgbouncer.ini');
    await writeFile(file, ['[databases]', `${name} = ${target}`, '[pgbouncer]', ...lines, ''].join('\n'));
    await chmod(folder, 0o755);
    // It refuses to run as root.
    const account = process.getuid?.() === 0 ? await findUnprivilegedAccount() : {};
    const child = spawn(pgbouncerPath ?? 'pgbouncer', [file], { ...account, stdio: 'ignore' });
    server.port = String(port);
    const pooler = new PgBouncer(child, folder, server.href);
    await until(() => accepts(port));
    return pooler;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null) {
      const exited = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await exited;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
