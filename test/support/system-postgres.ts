import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findUnprivilegedAccount } from '../../src/platform/database/embedded/settings.js';
import { freePort } from './free-port.js';

const VERSIONS = '/usr/lib/postgresql';
const PROGRAMS = ['initdb', 'pg_ctl', 'pg_dump', 'pg_restore', 'psql'];

/**
 * Folder with the programs of PostgreSQL that Debian or Ubuntu installed, the newest version; null if
 * there is none. The embedded PostgreSQL has no `pg_dump`.
 */
export function systemPostgresPrograms(): string | null {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map((version) => join(VERSIONS, version, 'bin'));
  return folders.find((bin) => PROGRAMS.every((program) => existsSync(join(bin, program)))) ?? null;
}

/** A server of its own, with a superuser `administrator`; every connection from this machine is trusted. */
export class SystemPostgres {
  private constructor(
    private readonly run: (program: string, ...args: readonly string[]) => Promise<void>,
    private readonly folder: string,
    readonly port: number,
  ) {}

  /** @param bin folder of `systemPostgresPrograms` */
  static async start(bin: string): Promise<SystemPostgres> {
    const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-postgres-'));
    const account = process.getuid?.() === 0 ? await findUnprivilegedAccount() : undefined;
    if (account !== undefined) await chown(folder, account.uid, account.gid);
    await chmod(folder, 0o700);
    const run = async (program: string, ...args: readonly string[]): Promise<void> => {
      await promisify(execFile)(join(bin, program), args, { ...account, cwd: '/' });
    };
    const port = await freePort();
    const data = join(folder, 'data');
    await run('initdb', '-D', data, '-U', 'administrator', '--auth=trust', '--encoding=UTF8', '--no-sync');
    const options = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories='${folder}'`;
    await run('pg_ctl', 'start', '-w', '-s', '-D', data, '-l', join(folder, 'log'), '-o', options);
    return new SystemPostgres(run, folder, port);
  }

  /** Connection string of a user to a database. */
  url(database: string, user = 'administrator'): string {
    return `postgresql://${user}@127.0.0.1:${this.port}/${database}`;
  }

  /** Stops the server at once and deletes its files, as if its volume were lost. */
  async remove(): Promise<void> {
    await this.run('pg_ctl', 'stop', '-s', '-m', 'immediate', '-D', join(this.folder, 'data'));
    await rm(this.folder, { recursive: true, force: true });
  }
}
