import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { Backend } from '../api/tool/export-fixture.js';
import { manifestOf, unpack } from '../evidence/package/reading-packages.js';
import { type CommandLine, commandLine } from './command-line.js';

const Written = z.object({
  counts: z.object({ consents: z.int(), not_yet_stamped: z.int() }),
  checkpoint: z.int(),
});

describe('evidence export on the command line', () => {
  let app: RunningApp;
  let folder: string;
  let line: CommandLine;
  let backend: Backend;
  const env: Record<string, string> = {};
  const exported = (...options: string[]) =>
    line.run(
      ['evidence', 'export', '--site', backend.demo.site.id, '--output', join(folder, 'evidence.zip'), ...options],
      env,
    );
  const start = async (settings: Record<string, string>): Promise<void> => {
    Object.assign(env, settings);
    app = await startApp('serve', settings);
    line = commandLine(app);
    backend = await Backend.of(app);
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-evidence-'));
  };
  const stop = async (): Promise<void> => {
    await app.stop();
    await rm(folder, { recursive: true, force: true });
  };

  describe('with frequent time stamps', () => {
    beforeAll(() => start({ STAMP_INTERVAL_MS: '100' }));
    afterAll(stop);

    it('waits with --wait until all recorded consents are stamped, and replaces a file only with --overwrite', async () => {
      await backend.record();
      const first = await exported('--wait', '--json');
      expect(first.exitCode, first.stderr).toBe(0);
      expect(Written.parse(JSON.parse(first.stdout)).counts).toEqual({ consents: 1, not_yet_stamped: 0 });

      await backend.record();
      expect(await exported('--wait')).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/exists already\. Choose another path, or replace the file with --overwrite\./),
      });
      const second = await exported('--wait', '60', '--overwrite', '--json');
      expect(second.exitCode, second.stderr).toBe(0);
      expect(Written.parse(JSON.parse(second.stdout)).counts).toEqual({ consents: 2, not_yet_stamped: 0 });
      expect(await readdir(folder)).toEqual(['evidence.zip']);
      expect(await exported('--overwrite', '--reason', 'curiosity')).toMatchObject({ exitCode: 2 });
      const stated = await exported('--overwrite', '--reason', 'internal_audit');
      expect(stated.exitCode, stated.stderr).toBe(0);
      const files = await unpack(join(folder, 'evidence.zip'));
      expect(manifestOf(files).export).toEqual({ role: 'command', reason: 'internal_audit' });
    });
  });

  describe('with rare time stamps', () => {
    beforeAll(() => start({ STAMP_INTERVAL_MS: '86400000', STAMP_WITHIN_SECONDS: '172800' }));
    afterAll(stop);

    it('reports the number of omitted consents, the stamp interval, and what to do', async () => {
      const stamps = async () => (await app.superuser.query('select from checkpoints')).rowCount;
      await expect.poll(stamps).toBeGreaterThan(0);
      await backend.record();
      const { exitCode, stdout } = await exported();
      expect(exitCode).toBe(0);
      expect(stdout).toContain('1 consent has no time stamp yet and is not in the package');
      expect(stdout).toContain('the service obtains a time stamp every 86400 s (STAMP_INTERVAL_MS)');
      expect(stdout).toContain('--wait');
    });

    it('stops after the given time, and writes no file', async () => {
      const before = await readdir(folder);
      const { exitCode, stdout, stderr } = await exported('--wait', '1', '--overwrite');
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toContain('Waiting for the time stamp');
      expect(stderr).toContain('After 1 s some recorded consents have no time stamp, and no package was written');
      expect(await readdir(folder)).toEqual(before);
    });
  });
});
