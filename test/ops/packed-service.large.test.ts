import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.js';
import { eventually } from '../support/wait.js';

const run = promisify(execFile);
const PACK = new URL('../../scripts/release/pack-service.js', import.meta.url).pathname;
let folder: string;

/** The package in an empty folder, as someone has it who has no clone. npm finds the libraries in its cache. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'consent-ledger-packed-'));
  await run(process.execPath, [PACK, folder]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function packed(...args: readonly string[]) {
  const [name = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  const npx = ['--yes', '--prefer-offline', `./${name}`, ...args];
  const port = await freePort();
  const env = { ...process.env, DATA_DIR: join(folder, 'data'), PORT: String(port) };
  return { npx, port, options: { cwd: folder, env } };
}

test('runs the demonstration in an empty folder', async () => {
  const { npx, options } = await packed('demo', '200');
  const { stdout } = await run('npx', npx, options);
  expect(stdout).toContain('The package contains 200 consents. Verdict: valid');
  const [, verify = ''] = /\n {3}node (\S+) check/.exec(stdout) ?? [];
  const { stdout: verdict } = await run(process.execPath, [
    ...[join(folder, verify), 'check', join(folder, 'demo-output/evidence-after-erasure.zip')],
    ...['--tsa-ca', join(folder, 'demo-output/tsa-root.pem'), '--ledger-key', join(folder, 'demo-output/ledger.vkey')],
  ]);
  expect(verdict).toContain('valid');
});

test('serves the API, the SDK, the dashboard and the page of the verifier', async () => {
  const { npx, port, options } = await packed('serve');
  const service = spawn('npx', npx, { ...options, stdio: 'ignore', detached: true });
  const ended = once(service, 'exit');
  try {
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    await eventually(async () => expect((await get('/readyz')).status).toBe(200));
    for (const path of ['/panel', '/sdk/consent.js', '/verify', '/openapi.yaml'])
      expect([path, (await get(path)).status]).toEqual([path, 200]);
  } finally {
    if (service.pid !== undefined) process.kill(-service.pid, 'SIGINT');
    await ended;
  }
});

test('contains the licences of what it bundles', async () => {
  const { npx, options } = await packed();
  await run('tar', ['-xzf', npx.at(-1) ?? ''], options);
  for (const [path, libraries] of [
    ['dist', ['fastify', 'pg', 'zod', 'pgpass']],
    ['node_modules/@consent-ledger/dashboard/dist', ['react', '@tanstack/react-router', 'react-aria-components']],
  ] as const) {
    const text = await readFile(join(folder, 'package', path, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const name of libraries) expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, 'm'));
  }
});
