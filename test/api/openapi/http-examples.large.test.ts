import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { hasProgram } from '../../support/has-program.js';
import { runProgram } from '../../support/run-program.js';
import { type RunningApp, startApp } from '../server/running-app.js';

const EXAMPLES = new URL('../../../docs/examples/http/', import.meta.url);

const SHELLS = (await hasProgram('dash')) ? ['sh', 'dash'] : ['sh'];

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
