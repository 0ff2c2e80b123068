import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { removeEmbeddedPostgres } from '../../src/platform/database/embedded/index.js';
import { ChromiumPage, chromiumPath } from '../support/chromium.js';
import { titleNeeding } from '../support/missing-tools.js';
import { until } from '../support/wait.js';

const LEDGER = resolve('bin/consent-ledger.js');
const Started = z.object({
  url: z.string(),
  example: z.object({ user: z.object({ email: z.string(), password: z.string() }) }),
});
const Tokens = z.object({ data: z.object({ access_token: z.string() }) });
const Sites = z.object({ data: z.array(z.object({ id: z.string(), name: z.string() })) });
const Consents = z.object({ data: z.array(z.object({ record: z.object({ decision: z.string() }) })) });

/** `serve --example` in a folder without anything. */
async function startExample(folder: string) {
  const env = { PATH: process.env.PATH, PORT: '0', LAME_DUCK_MS: '0', LOG_LEVEL: 'error' };
  const child = spawn(process.execPath, [LEDGER, 'serve', '--example', '--json'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    return {
      ...Started.parse(JSON.parse(line)),
      stop: async () => {
        child.kill('SIGTERM');
        await ended;
      },
    };
  }
  throw new Error('the example ended before it listened');
}

describe('an example', () => {
  let folder: string;
  let example: Awaited<ReturnType<typeof startExample>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-example-'));
    example = await startExample(folder);
  });
  afterAll(async () => {
    await example?.stop();
    await removeEmbeddedPostgres(join(folder, 'data-example'));
    await rm(folder, { recursive: true, force: true });
  });

  async function get(path: string, token: string): Promise<unknown> {
    const answer = await fetch(`${example.url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    return answer.json();
  }

  async function decisions(): Promise<readonly string[]> {
    const signedIn = await fetch(`${example.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(example.example.user),
    });
    const { access_token: token } = Tokens.parse(await signedIn.json()).data;
    const [site, ...others] = Sites.parse(await get('/sites', token)).data;
    expect([site?.name, others]).toEqual(['Demonstration Shop (nothing here is real)', []]);
    return Consents.parse(await get(`/sites/${site?.id}/consents?limit=5`, token)).data.map(
      ({ record }) => record.decision,
    );
  }

  test.runIf(chromiumPath !== undefined)(
    titleNeeding('Chromium', chromiumPath !== undefined, 'has a page whose banner records a choice'),
    async () => {
      await until(async () => (await decisions()).length === 5);
      const page = await ChromiumPage.open(chromiumPath ?? '');
      try {
        await page.goto(`${example.url}/try`);
        const root = "document.querySelector('consent-banner').shadowRoot";
        const reject = `[...${root}.querySelectorAll('button')].find((button) => button.textContent === 'Reject all')`;
        // The banner is on the page before its texts are.
        await page.until(async () => (await page.evaluate(`${reject} !== undefined`)) === true);
        await page.evaluate(`${reject}.click()`, { userGesture: true });
        await until(async () => (await decisions())[0] === 'rejected' && (await recorded(page)));
      } finally {
        await page.close();
      }
    },
  );

  /** Whether the page has the answer of the service to its choice. */
  const recorded = async (page: ChromiumPage) =>
    (await page.evaluate("performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/consents'))")) ===
    true;

  test('is the same at its next start, and elsewhere there is no such page', async () => {
    const { user } = example.example;
    await example.stop();
    example = await startExample(folder);
    expect(example.example.user).toEqual(user);
    expect((await fetch(`${example.url}/try`)).status).toBe(200);
    await rm(join(folder, 'data-example/example.json'));
    expect((await fetch(`${example.url}/try`)).status).toBe(404);
  });
});
