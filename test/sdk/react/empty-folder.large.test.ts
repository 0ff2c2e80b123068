import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningApp, startApp } from '../../api/server/running-app.js';
import { ChromiumPage, chromiumPath } from '../../support/chromium.js';
import { freePort } from '../../support/free-port.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { runCommands, runProgram } from '../../support/run-program.js';
import { isExhaustive } from '../../support/sweeps.js';
import { served } from './built-pages.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The commands under the heading “From an empty folder” of a page. */
async function commandsOf(page: string): Promise<string> {
  const text = await readFile(join(ROOT, 'docs', page), 'utf8');
  const [, commands = ''] = /# From an empty folder\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(text) ?? [];
  expect(commands).not.toBe('');
  return commands;
}

/** Installs packages of the registry, so that `npm test` leaves it out. */
describe.skipIf(!isExhaustive())('from an empty folder, with the packed package', () => {
  let app: RunningApp;
  let packed: string;
  beforeAll(async () => {
    app = await startApp('serve');
    packed = await mkdtemp(join(tmpdir(), 'consent-ledger-packed-'));
    const workspaces = ['-w', 'sdk/mobile', '-w', 'sdk/react'];
    const { exitCode, stderr } = await runProgram('npm', ['pack', ...workspaces, '--pack-destination', packed], {
      cwd: ROOT,
    });
    expect(exitCode, stderr).toBe(0);
  });
  afterAll(async () => {
    await app?.stop();
    await rm(packed, { recursive: true, force: true });
  });

  /** Runs the commands of a page in a new folder. @returns the folder, and what they print */
  const walk = async (page: string, env: NodeJS.ProcessEnv, example?: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-empty-'));
    await cp(packed, folder, { recursive: true });
    if (example !== undefined) await cp(join(ROOT, 'docs/examples', example), folder, { recursive: true });
    const started = performance.now();
    const { exitCode, stdout, stderr } = await runCommands(await commandsOf(page), { cwd: folder, env });
    expect(exitCode, stderr).toBe(0);
    console.log(`${page}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
    return { folder, stdout };
  };

  test('an app records a consent in two commands', async () => {
    const demo = await app.seed();
    const { folder, stdout } = await walk('sdk-mobile.md', { SERVICE: app.url, API_KEY: demo.keys.write });
    expect(stdout).toMatch(/May we use cookies\?\nct_\S+ true\n$/);
    await rm(folder, { recursive: true });
  });

  test.skipIf(chromiumPath === undefined)(
    titleNeeding('Chromium', chromiumPath !== undefined, 'a page of React asks after two commands'),
    async () => {
      const port = await freePort();
      const demo = await app.seed({ allowedOrigins: [`http://127.0.0.1:${port}`] });
      const site = { VITE_CONSENT_SERVICE: app.url, VITE_CONSENT_KEY: demo.keys.write };
      const { folder } = await walk('sdk-react.md', site, 'react-vite');
      const page = await served(join(folder, 'dist'), port);
      const browser = await ChromiumPage.open(chromiumPath ?? '');
      await browser.goto(`http://127.0.0.1:${port}/`);
      const title = `document.querySelector('consent-banner')?.shadowRoot.querySelector('h2')?.textContent`;
      await expect.poll(() => browser.evaluate(title)).toBe('Your choice');
      await browser.close();
      await page.close();
      await rm(folder, { recursive: true });
    },
  );
});
