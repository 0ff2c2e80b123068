import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withFileLock } from '../../../../src/platform/database/embedded/file-lock.js';

describe('withFileLock', () => {
  let dir: string;
  let path: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'consent-ledger-lock-'));
    path = join(dir, 'lock');
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  async function countTogether(callers: number): Promise<number> {
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await sleep(2);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: callers }, () => withFileLock(path, 60_000, work)));
    return most;
  }

  it('admits one holder at a time, and leaves no files', async () => {
    expect(await countTogether(20)).toBe(1);
    expect(await readdir(dir)).toEqual([]);
  });

  it('removes the lock of a dead process for exactly one waiting process', async () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    await writeFile(path, JSON.stringify({ pid: dead, start: 'then', token: 'dead' }));
    expect(await countTogether(20)).toBe(1);
    expect(await readdir(dir)).toEqual([]);
  });

  it('removes a lock with a reused process id, and one that names no process', async () => {
    for (const text of [JSON.stringify({ pid: process.pid, start: 'another boot', token: 'x' }), 'not json', '']) {
      await writeFile(path, text);
      expect(await countTogether(5)).toBe(1);
    }
  });

  it('removes a lock even if the process that was removing it died', async () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    await writeFile(path, JSON.stringify({ pid: dead, start: 'then', token: 'dead' }));
    await writeFile(`${path}.break`, JSON.stringify({ pid: dead, start: 'then', token: 'breaker' }));
    expect(await countTogether(10)).toBe(1);
    expect(await readdir(dir)).toEqual([]);
  });

  it('times out on a living holder', async () => {
    await withFileLock(path, 1_000, async () => {
      await expect(withFileLock(path, 50, async () => undefined)).rejects.toMatchObject({ code: 'lock_timeout' });
    });
  });

  it('releases the lock after work that failed', async () => {
    await expect(withFileLock(path, 1_000, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await withFileLock(path, 1_000, async () => 'yes')).toBe('yes');
  });
});
