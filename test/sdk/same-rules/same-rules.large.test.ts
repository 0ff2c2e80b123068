import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { conformance } from '../../../sdk/conformance/src/index.js';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { sampled } from '../../support/sweeps.js';

const PROGRAM = fileURLToPath(new URL('run-pages.ts', import.meta.url));
const SCRIPT = fileURLToPath(new URL('../../../sdk/browser/dist/consent.js', import.meta.url));
const canRun = chromiumPath !== undefined && existsSync(SCRIPT);
const SEED = Number(process.env.CHOICE_SEED ?? 35);
/** Sequences of one seed. */
const PART = 200;
const seeds = Array.from({ length: 25 }, (_, part) => SEED + part);

test('the SDKs for pages, for React in strict mode and for apps keep the rules, and show, send and keep the same by the same actions', {
  timeout: 1_200_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-same-rules-'));
  const outfile = join(folder, 'run-pages.mjs');
  try {
    await build({
      entryPoints: [PROGRAM],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      define: { 'process.env.NODE_ENV': '"development"' },
      // React is a module of Node's older kind.
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    });
    for (const seed of sampled('the same sequences with each SDK', seeds)) {
      const { stdout } = await promisify(execFile)(process.execPath, [outfile, String(PART), String(seed)]);
      console.log(stdout.trim());
      expect(stdout).toContain(`${conformance().length} rules, ${PART} sequences`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.skipIf(!canRun)(
  titleNeeding('Chromium, or the built SDK,', canRun, 'the script in Chromium keeps the rules'),
  async () => {
    const { outputFiles } = await build({
      entryPoints: [fileURLToPath(new URL('run-script.ts', import.meta.url))],
      bundle: true,
      format: 'iife',
      write: false,
      define: { 'process.env.NODE_ENV': '"development"' },
    });
    const suite = outputFiles[0]?.text ?? '';
    const script = await readFile(SCRIPT, 'utf8');
    const server = createServer(({ url }, response) => {
      if (url === '/') response.setHeader('content-type', 'text/html').end('<!doctype html><title>Rules</title><body>');
      else response.setHeader('content-type', 'text/javascript').end(url === '/suite.js' ? suite : script);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const page = await ChromiumPage.open(chromiumPath ?? '');
    try {
      await page.goto(`http://127.0.0.1:${port}/`);
      await page.evaluate(
        `new Promise((loaded) => { const script = document.createElement('script'); script.src = '/suite.js'; script.onload = () => loaded(true); document.head.append(script); })`,
      );
      expect(await page.evaluate(`brokenByScript()`)).toEqual([]);
    } finally {
      await page.close();
      server.closeAllConnections();
      server.close();
    }
  },
);
