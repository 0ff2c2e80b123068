import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadMasterKey } from '../../../src/platform/keys/index.js';
import { titleNeeding } from '../../support/missing-tools.js';

describe('loadMasterKey', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'consent-ledger-keys-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('creates one key for concurrent processes, readable only by its owner', async () => {
    const path = join(dir, 'new', 'master.key');
    const keys = await Promise.all(Array.from({ length: 20 }, () => loadMasterKey({ kind: 'generated', path })));
    expect(new Set(keys.map((key) => key.export().toString('hex'))).size).toBe(1);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(dir, 'new'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(dir, 'new'))).toEqual(['master.key']);
    const again = await loadMasterKey({ kind: 'file', path });
    expect(again.equals(keys[0] ?? again)).toBe(true);
    expect(Buffer.from((await readFile(path, 'utf8')).trim(), 'base64')).toEqual(again.export());
  });

  it('never replaces an invalid file', async () => {
    const path = join(dir, 'master.key');
    await writeFile(path, 'short\n');
    await expect(loadMasterKey({ kind: 'generated', path })).rejects.toMatchObject({ code: 'master_key_unreadable' });
    expect(await readFile(path, 'utf8')).toBe('short\n');
  });

  it.runIf(process.getuid?.() !== 0)(
    titleNeeding('an account other than root', process.getuid?.() !== 0, 'never replaces an unreadable file'),
    async () => {
      const path = join(dir, 'master.key');
      await writeFile(path, 'secret');
      await chmod(path, 0o000);
      await expect(loadMasterKey({ kind: 'generated', path })).rejects.toMatchObject({ code: 'master_key_unreadable' });
    },
  );

  it('reports a missing file', async () => {
    const attempt = loadMasterKey({ kind: 'file', path: join(dir, 'none') });
    await expect(attempt).rejects.toMatchObject({ code: 'master_key_unreadable' });
  });
});
