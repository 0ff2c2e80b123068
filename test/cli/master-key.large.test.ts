import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestInstallation } from '../support/running-service.js';

let installation: TestInstallation;
beforeAll(async () => {
  installation = await TestInstallation.make();
});
afterAll(() => installation?.remove());

it('admin master-key rotate: only the new key opens the keyring afterwards', async () => {
  await installation.json('admin', 'seed-demo');
  const current = join(installation.dataDir, 'master.key');
  const next = join(installation.dataDir, 'next.key');
  const before = await readFile(current, 'utf8');
  expect(await installation.json('admin', 'master-key', 'rotate', '--to', next)).toMatchObject({ file: next });

  const withOld = await installation.run('admin', 'sign-in', 'list-keys', '--json');
  expect(withOld.exitCode).toBe(1);
  expect(withOld.stderr).toContain('master key');
  expect(withOld.stderr).not.toContain(before.trim());

  await rm(current);
  await rename(next, current);
  expect(await readFile(current, 'utf8')).not.toBe(before);
  const service = await installation.start();
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  expect(await service.stop()).toBe(0);
});
