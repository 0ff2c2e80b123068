import { spawnSync } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeEmbeddedPostgres } from '../../../../src/platform/database/embedded/index.js';
import { titleNeeding } from '../../../support/missing-tools.js';
import { createInstallation, type Installation, postmasterPid, query } from './fixture.js';

const hasPsql = spawnSync('psql', ['--version']).status === 0;

describe('the embedded PostgreSQL', () => {
  let installation: Installation;
  beforeAll(async () => {
    installation = await createInstallation();
  });
  afterAll(() => installation.remove());

  it('keeps its data, port and password between starts, and is stopped in between', async () => {
    const first = await installation.open();
    await query(first.superuserUrl, 'CREATE TABLE kept AS SELECT 1 AS n');
    await first.release();
    await first.release();
    expect(await postmasterPid(first)).toBeUndefined();
    await expect(query(first.superuserUrl, 'SELECT 1')).rejects.toThrow(/ECONNREFUSED/);

    const second = await installation.open();
    expect(second.superuserUrl).toBe(first.superuserUrl);
    expect(await query(second.superuserUrl, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
    await second.release();
  });

  it('is durable, listens only on this machine, and requires its password', async () => {
    const server = await installation.open();
    const names = ['fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses', 'unix_socket_directories'];
    const settings = await query(
      server.superuserUrl,
      `SELECT name, setting FROM pg_settings WHERE name IN (${names.map((name) => `'${name}'`).join()})`,
    );
    expect(settings).toEqual(
      expect.arrayContaining([
        { name: 'fsync', setting: 'on' },
        { name: 'full_page_writes', setting: 'on' },
        { name: 'synchronous_commit', setting: 'on' },
        { name: 'listen_addresses', setting: '127.0.0.1' },
        { name: 'unix_socket_directories', setting: '' },
      ]),
    );
    const wrong = new URL(server.superuserUrl);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
    await server.release();
  });

  it.runIf(hasPsql)(titleNeeding('psql', hasPsql, 'is read with psql as docs/operations.md says'), async () => {
    const server = await installation.open();
    const page = await readFile(new URL('../../../../docs/operations.md', import.meta.url), 'utf8');
    const [, commands = ''] = /### Read the embedded database.*?^```sh\n(.*?)^```$/ms.exec(page) ?? [];
    // The tables come with a migration, which is not part of this test.
    const script = commands
      .replaceAll('data/', `${installation.dataDir}/`)
      .replace('select id, domain from sites', 'select 6 * 7');
    const { stdout, stderr } = spawnSync('sh', ['-c', script.replace(/require\('\.\//, "require('")], {
      encoding: 'utf8',
    });
    expect([stderr, stdout]).toEqual(['', expect.stringContaining('42')]);
    await server.release();
  });

  it('protects secrets from all but the owner of the data folder', async () => {
    const server = await installation.open();
    expect((await stat(installation.dataDir)).mode & 0o777).toBe(0o700);
    for (const name of ['embedded.json', 'postgres.password']) {
      expect((await stat(join(installation.dataDir, name))).mode & 0o777).toBe(0o600);
    }
    expect(await readFile(join(installation.dataDir, 'embedded.json'), 'utf8')).not.toContain(
      await readFile(join(installation.dataDir, 'postgres.password'), 'utf8'),
    );
    expect((await stat(server.home)).mode & 0o777).toBe(0o700);
    await server.release();
  });

  it.runIf(process.getuid?.() === 0)(
    titleNeeding(
      'the root account',
      process.getuid?.() === 0,
      'stores root’s files in a folder of another account, and logs its path once',
    ),
    async () => {
      const server = await installation.open();
      await server.release();
      await (await installation.open()).release();
      expect(server.home.startsWith(installation.rootHomeBase)).toBe(true);
      expect((await stat(server.home)).uid).not.toBe(0);
      expect(installation.log.filter((line) => line.includes(server.home))).toHaveLength(1);
    },
  );

  it.runIf(process.getuid?.() !== 0)(
    titleNeeding(
      'an account other than root',
      process.getuid?.() !== 0,
      'stores an ordinary user’s files in the data folder',
    ),
    async () => {
      const server = await installation.open();
      await server.release();
      expect(server.home).toBe(join(installation.dataDir, 'postgres'));
      expect(installation.log).toEqual([]);
    },
  );

  it('uses another port if its own is in use', async () => {
    const first = await installation.open();
    await first.release();
    const squatter = createServer().listen(first.port, first.host);
    await new Promise((resolve) => squatter.once('listening', resolve));
    const second = await installation.open();
    expect(second.port).not.toBe(first.port);
    expect(await query(second.superuserUrl, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await second.release();
    await new Promise((resolve) => squatter.close(resolve));
  });

  it('is started once by concurrent processes, and stopped by the last one to release it', async () => {
    const [elsewhere, alsoElsewhere, ...here] = await Promise.all([
      installation.openElsewhere(),
      installation.openElsewhere(),
      ...Array.from({ length: 6 }, () => installation.open()),
    ]);
    const urls = [elsewhere.url, alsoElsewhere.url, ...here.map((server) => server.superuserUrl)];
    expect(new Set(urls).size).toBe(1);
    const [one] = here;
    if (one === undefined) throw new Error('nothing was opened');
    const pid = await postmasterPid(one);

    await Promise.all(here.map((server) => server.release()));
    expect(await alsoElsewhere.release()).toBe(0);
    expect(await postmasterPid(one)).toBe(pid);
    expect(await query(elsewhere.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    expect(await elsewhere.release()).toBe(0);
    expect(await postmasterPid(one)).toBeUndefined();
  });

  it('works for a process that attaches while the last one releases it', async () => {
    let current = await installation.open();
    for (let round = 0; round < 5; round++) {
      const [next] = await Promise.all([installation.open(), current.release()]);
      expect(await query(next.superuserUrl, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
      current = next;
    }
    await current.release();
  });

  it('is deleted from any location, but never while it runs', async () => {
    const other = await createInstallation();
    const server = await other.open();
    await writeFile(join(other.dataDir, 'master.key'), 'kept');
    await expect(removeEmbeddedPostgres(other.dataDir)).rejects.toMatchObject({ code: 'in_use' });
    expect(await query(server.superuserUrl, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await server.release();
    await removeEmbeddedPostgres(other.dataDir);
    await removeEmbeddedPostgres(other.dataDir);
    expect(await readdir(other.dataDir)).toEqual(['master.key']);
    await expect(stat(server.home)).rejects.toThrow(/ENOENT/);
    await other.remove();
  });

  it('keeps running while another client is connected', async () => {
    const server = await installation.open();
    const stranger = new pg.Client({ connectionString: server.superuserUrl });
    await stranger.connect();
    await server.release();
    expect((await stranger.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
    await stranger.end();
    const again = await installation.open();
    await again.release();
    expect(await postmasterPid(again)).toBeUndefined();
  });
});
