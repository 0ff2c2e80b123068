import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedPostgres } from '../../../../src/platform/database/embedded/index.js';
import { eventually } from '../../../support/wait.js';
import { createInstallation, type Installation, killAndWait, postmasterPid, query } from './fixture.js';

/**
 * The tests share one installation, as a data folder is used for years. Each test must leave it in
 * working order.
 */
describe('the embedded PostgreSQL', () => {
  let installation: Installation;
  let count = 0;
  beforeAll(async () => {
    installation = await createInstallation();
    const server = await installation.open();
    await query(server.superuserUrl, 'CREATE TABLE kept (n integer PRIMARY KEY)');
    await server.release();
  });
  afterAll(() => installation.remove());

  const insert = async (url: string): Promise<void> => {
    count += 1;
    await query(url, `INSERT INTO kept VALUES (${count})`);
  };
  const expectAllKept = async (url: string): Promise<void> => {
    expect(await query(url, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: count }]);
  };
  const pidOf = async (server: EmbeddedPostgres): Promise<number> => {
    const pid = await postmasterPid(server);
    if (pid === undefined) throw new Error('no postmaster runs');
    return pid;
  };

  it('is adopted by the next process after kill -9 of the service', async () => {
    const holder = await installation.openElsewhere();
    await insert(holder.url);
    await holder.kill();
    const server = await installation.open();
    await expectAllKept(server.superuserUrl);
    expect(server.superuserUrl).toBe(holder.url);
    await server.release();
    expect(await postmasterPid(server)).toBeUndefined();
  });

  it('starts again after kill -9 of both service and server', async () => {
    const holder = await installation.openElsewhere();
    await insert(holder.url);
    const look = await installation.open();
    const pid = await pidOf(look);
    holder.process.kill('SIGSTOP');
    await look.release();
    await killAndWait(pid);
    await holder.kill();
    const server = await installation.open();
    await expectAllKept(server.superuserUrl);
    await server.release();
  });

  it('is restarted at the same address by the running service after kill -9', async () => {
    const server = await installation.open();
    const holder = await installation.openElsewhere();
    for (let round = 0; round < 3; round++) {
      await insert(server.superuserUrl);
      const pid = await pidOf(server);
      await killAndWait(pid);
      await eventually(() => expectAllKept(server.superuserUrl));
      expect(await pidOf(server)).not.toBe(pid);
    }
    expect(installation.log).toContain('The embedded PostgreSQL stopped unexpectedly; starting it again.');
    await expectAllKept(holder.url);
    await holder.release();
    await server.release();
    expect(await postmasterPid(server)).toBeUndefined();
  });

  it('stays stopped after kill -9 if the service is releasing it', async () => {
    for (const pause of [0, 20, 100, 200]) {
      const server = await installation.open();
      await killAndWait(await pidOf(server));
      await sleep(pause);
      await server.release();
      expect(await postmasterPid(server)).toBeUndefined();
    }
  });

  it('accepts the service again after a crash of one of its processes', async () => {
    const server = await installation.open();
    const postmaster = await pidOf(server);
    const rows = await query(server.superuserUrl, `SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'`);
    await killAndWait(Number(Object.values(Object(rows[0]))[0]));
    await eventually(() => expectAllKept(server.superuserUrl));
    expect(await pidOf(server)).toBe(postmaster);
    await server.release();
    expect(await postmasterPid(server)).toBeUndefined();
  });

  it('starts if another process has the id in its pid file', async () => {
    const server = await installation.open();
    await server.release();
    const file = join(server.home, 'data', 'postmaster.pid');
    await writeFile(file, `${process.pid}\n${join(server.home, 'data')}\n1\n5432\n\n127.0.0.1\n 1 1\nready\n`, {
      mode: 0o600,
    });
    const again = await installation.open();
    await expectAllKept(again.superuserUrl);
    await again.release();
    expect(await readFile(file, 'utf8').catch(() => 'gone')).toBe('gone');
  });

  it('starts after a process died while it held the lock', async () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    const lock = join(installation.dataDir, 'embedded.lock');
    await writeFile(lock, JSON.stringify({ pid: dead, start: 'then', token: 'a' }));
    const servers = await Promise.all([installation.open(), installation.open(), installation.open()]);
    await expectAllKept(servers[0].superuserUrl);
    await Promise.all(servers.map((server) => server.release()));
  });

  it('starts after an interrupted initialization and an interrupted copy of its programs', async () => {
    const fresh = await createInstallation();
    const first = await fresh.open();
    await first.release();
    // The state after a crash: the temporary names exist, the final ones do not.
    spawnSync('mv', [join(first.home, 'data'), join(first.home, 'data.new')]);
    await mkdir(join(first.home, 'runtime-partial-0123'));
    await writeFile(join(first.home, 'initdb.password'), 'left behind');
    const second = await fresh.open();
    expect(await query(second.superuserUrl, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await second.release();
    await fresh.remove();
  });

  it('reports a damaged state file and changes nothing', async () => {
    const path = join(installation.dataDir, 'embedded.json');
    const text = await readFile(path, 'utf8');
    await writeFile(path, '{"version":2}');
    await expect(installation.open()).rejects.toMatchObject({ code: 'state_invalid' });
    expect(await readFile(path, 'utf8')).toBe('{"version":2}');
    await writeFile(path, text);
    const server = await installation.open();
    await expectAllKept(server.superuserUrl);
    await server.release();
  });
});
