import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommands } from '../../support/run-program.js';
import { type RunningService, TestInstallation } from '../../support/running-service.js';

const DOCUMENT = new URL('../../../docs/panel-api.md', import.meta.url);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

let installation: TestInstallation;
let service: RunningService;
let folder: string;
beforeAll(async () => {
  installation = await TestInstallation.make();
  service = await installation.start();
  folder = await mkdtemp(join(tmpdir(), 'consent-ledger-walk-'));
  for (const name of ['bin', 'verifier-cli', 'node_modules']) await symlink(join(ROOT, name), join(folder, name));
});
afterAll(async () => {
  await service.stop();
  await installation.remove();
  await rm(folder, { recursive: true, force: true });
});

it('goes from nothing to evidence as docs/panel-api.md says', async () => {
  const text = await readFile(DOCUMENT, 'utf8');
  const [, walk = ''] = /^## From nothing to evidence\n.*?^```bash\n(.*?)^```$/ms.exec(text) ?? [];
  const ended = await runCommands(walk, { cwd: folder, env: { ...installation.env, BASE: service.url } });
  const { stdout } = ended;
  expect(ended).toMatchObject({ exitCode: 0 });
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toBe('owner');
  expect(stdout).toContain("name: '_consent-ledger.shop.example'");
  expect(stdout).toContain('shop.example is verified.');
  expect(stdout).toMatch(/^published\nactive\n/m);
  // The revisions of the draft, and the number of what was published from it.
  expect(stdout).toMatch(/^2\n3\n1\nct_[0-9a-f]{32}$/m);
  expect(stdout).toContain('1 hold, 0 indeterminate, 0 invalid');
  expect(stdout).toContain('Every batch is in the ledger at its stated position.');
  expect(stdout).toContain('The keys of the erased values are destroyed');
  // The erased identifier finds no record.
  expect(lines.at(-1)).toBe('0');
});
