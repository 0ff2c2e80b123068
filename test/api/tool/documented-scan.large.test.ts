import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../../support/chromium.js';
import { freePort } from '../../support/free-port.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { runCommands } from '../../support/run-program.js';
import { type RunningService, TestInstallation } from '../../support/running-service.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const canRun = chromiumPath !== undefined;

/**
 * In place of the line in /etc/hosts: every name of the example tenants leads to this machine, also in the
 * process of a scan, which gets no variable of the service.
 */
const HOSTS = `import processes from 'node:child_process';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
const lookup = dns.lookup;
dns.lookup = (name, ...rest) => lookup(name.endsWith('.example') ? '127.0.0.1' : name, ...rest);
const { spawn } = processes;
processes.spawn = (file, args, options) =>
  spawn(file, args.some((arg) => arg.endsWith('scan-process.js')) ? ['--import=' + import.meta.url, ...args] : args, options);
syncBuiltinESMExports();`;

describe.skipIf(!canRun)(titleNeeding('Chromium', canRun, 'the scan of docs/scans.md'), () => {
  let installation: TestInstallation;
  let service: RunningService;
  let folder: string;
  beforeAll(async () => {
    installation = await TestInstallation.make({
      SCAN_NETWORKS: '127.0.0.1/32',
      CHROME_PATH: chromiumPath,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(HOSTS)}`,
    });
    service = await installation.start();
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-scan-walk-'));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  });
  afterAll(async () => {
    await service?.stop();
    await installation?.remove();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  test('finds three undeclared cookies, and a declared one without permission', async () => {
    await writeFile(join(folder, 'demo.json'), JSON.stringify(await installation.json('admin', 'seed-demo')));
    const text = await readFile(join(ROOT, 'docs/scans.md'), 'utf8');
    const [, walk = '', printed = ''] = /^```sh\n(.*?)^```$.*?^```text\n(.*?)^```$/ms.exec(text) ?? [];
    const { exitCode, stdout, stderr } = await runCommands(walk.replaceAll('3001', String(await freePort())), {
      cwd: folder,
      env: { BASE: service.url },
    });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.split('\n').sort()).toEqual(printed.split('\n').sort());
  });
});
