import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { hasProgram } from '../../support/has-program.js';
import { runProgram } from '../../support/run-program.js';
import { turnAccountsOn } from '../../support/turn-accounts-on.js';
import { type RunningApp, startApp } from '../server/running-app.js';

const DOCS = new URL('../../../docs/', import.meta.url);
const EXAMPLES = new URL('examples/http/', DOCS);

const SHELLS = (await hasProgram('dash')) ? ['sh', 'dash'] : ['sh'];

const SignedIn = z.object({ data: z.object({ access_token: z.string() }) });

const Example = z.object({
  recordConsent: z.custom<(baseUrl: string, key: string, choice: object, language?: string) => Promise<unknown>>(
    (value) => typeof value === 'function',
  ),
});

describe('the HTTP examples of the documentation', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  beforeAll(async () => {
    app = await startApp('serve');
    demo = await app.seed({ allowedOrigins: [] });
  });
  afterAll(() => app.stop());

  const run = async (program: string, file: string, env: Readonly<Record<string, string>>) => {
    const { stdout, ...ended } = await runProgram(program, [fileURLToPath(new URL(file, EXAMPLES))], {
      env: { BASE_URL: app.url, API_KEY: demo.keys.write, ...env },
    });
    expect(ended).toEqual({ exitCode: 0, stderr: '' });
    return stdout;
  };

  const credentials = () => ({ API_USER: demo.api_user.email, API_PASSWORD: demo.api_user.password });

  // The echo of dash would end strings of the answer, which have \n, in the middle.
  it.each(SHELLS)('curl, in %s', async (shell) => {
    const output = await run(shell, 'record-consent.sh', credentials());
    const answers = output.trimEnd().split('\n');
    expect(answers[0]).toContain('\\n');
    expect(answers.map((answer) => JSON.parse(answer))).toMatchObject([
      { message: 'Consent accepted.', data: { promise: expect.any(Object) } },
      { valid: true },
    ]);
  });

  it('a backend in Node', async () => {
    const output = await run(process.execPath, 'backend.mjs', credentials());
    const [, token] = /^recorded (ct_[0-9a-f]{32})$/m.exec(output) ?? [];
    expect(output).toContain(`exported ${token} of Ada Example`);
  });

  it('curl for a person token, in docs/accounts.md', async () => {
    const [script = ''] = /(?<=```sh\n)path=.*?(?=```)/s.exec(readFileSync(new URL('accounts.md', DOCS), 'utf8')) ?? [];
    const signIn = await fetch(`${app.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(demo.api_user),
    });
    const { access_token: BEARER } = SignedIn.parse(await signIn.json()).data;
    const env = { BASE_URL: app.url, API_KEY: demo.keys.write, BEARER };
    const mint = () => runProgram('sh', ['-c', script], { env });
    expect(await mint()).toMatchObject({ exitCode: 22, stderr: expect.stringContaining('409') });
    await turnAccountsOn(app, demo.site.id, null);
    await vi.waitFor(async () => expect((await mint()).exitCode).toBe(0), 15_000);
    expect(JSON.parse((await mint()).stdout)).toMatchObject({ data: { person_token: expect.stringMatching(/^hpt_/) } });
  });

  it('a browser', async () => {
    const { recordConsent } = Example.parse(await import(new URL('browser.js', EXAMPLES).href));
    const consent = await recordConsent(app.url, demo.keys.write, {
      decision: 'partial',
      categories: { necessary: true, analytics: false },
    });
    expect(consent).toMatchObject({ consent_token: expect.stringMatching(/^ct_/), duplicate: false });
    await expect(recordConsent(app.url, demo.keys.write, { decision: 'perhaps' })).rejects.toThrow('VALIDATION_ERROR');
    await expect(recordConsent(app.url, demo.keys.read, { decision: 'accepted' })).rejects.toThrow(
      'INSUFFICIENT_SCOPE',
    );
  });
});
