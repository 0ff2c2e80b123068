import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { ALL_OPERATIONS } from '../openapi/all-operations.js';
import { type RunningApp, startApp } from './running-app.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/** The methods of each path, as the table of operations has them. */
const PATHS = new Map<string, readonly (typeof ALL_OPERATIONS)[number][]>();
for (const operation of ALL_OPERATIONS) PATHS.set(operation.path, [...(PATHS.get(operation.path) ?? []), operation]);

interface Answer {
  readonly status: number | undefined;
  readonly allow: string | undefined;
  readonly origin: string | undefined;
  readonly code: string | undefined;
}

const Refusal = z.object({ code: z.string() });

describe('methods that an operation does not have', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let bearer: string;
  beforeAll(async () => {
    app = await startApp('api', { METRICS_TOKEN: 'm'.repeat(32) });
    demo = await app.seed();
    const login = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const answer = await fetch(`${app.url}/api/v1/auth/login`, { ...login, body: JSON.stringify(demo.api_user) });
    bearer = z.object({ data: z.object({ access_token: z.string() }) }).parse(await answer.json()).data.access_token;
  });
  afterAll(() => app.stop());

  /** Sends a method that `fetch` may refuse to send. */
  const send = (method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = request(`${app.url}${path}`, { method, headers: { origin: 'https://a.example', ...headers } });
      sent.on('error', reject).on('response', async (response) => {
        const text = (await response.toArray()).join('');
        resolve({
          status: response.statusCode,
          allow: response.headers.allow,
          origin: response.headers['access-control-allow-origin'],
          code: text.startsWith('{') ? Refusal.safeParse(JSON.parse(text)).data?.code : undefined,
        });
      });
      sent.end();
    });
  const fill = (path: string): string => path.replaceAll(/\{\w+\}/g, '1');

  it.each([...PATHS])('%s: 405 with Allow', async (path, operations) => {
    const own = operations.map(({ method }) => method.toUpperCase());
    const reading = operations.find(({ method }) => method === 'get');
    const disclosing =
      reading?.download !== undefined || (reading?.access.apiKey != null && reading.access.roles !== null);
    const withHead = reading === undefined || (disclosing && reading.access.roles !== null) ? own : [...own, 'HEAD'];
    const isForPages = /^\/(?:tool\/v1|api\/v1\/public)\//.test(path);
    for (const method of METHODS.filter((one) => !withHead.includes(one) && !(isForPages && one === 'OPTIONS'))) {
      const allow = [...withHead].sort().join(', ');
      const code = method === 'HEAD' ? undefined : 'METHOD_NOT_ALLOWED';
      expect(await send(method, fill(path)), method).toEqual({ status: 405, allow, origin: undefined, code });
    }
  });

  it('answers HEAD as GET where nothing is disclosed or recorded', async () => {
    for (const path of ['/metrics', '/checkpoints', '/healthz', '/panel/sites', '/api/v1/auth/options'])
      expect((await send('HEAD', path)).status, path).toBe((await send('GET', path)).status);
  });

  it('leaves no entry in the audit log for the HEAD of a backend', async () => {
    const entries = async () => (await app.superuser.query('select from audit_log')).rowCount;
    const before = await entries();
    const headers = { 'x-api-key': demo.keys.read, authorization: `Bearer ${bearer}` };
    expect(await send('HEAD', '/tool/v1/s2s/consents/export', headers)).toMatchObject({ status: 405, allow: 'GET' });
    expect(await entries()).toBe(before);
    expect((await send('GET', '/tool/v1/s2s/consents/export', headers)).status).toBe(200);
    expect(await entries()).toBe(Number(before) + 1);
  });

  it('answers preflight requests of pages, where pages may call', async () => {
    expect(await send('OPTIONS', '/tool/v1/consents')).toMatchObject({ status: 204, origin: 'https://a.example' });
  });

  it.each([
    '/tool/v1/ping/',
    '/checkpoints/keys/',
    '/checkpoints/log/tile/0/',
    '/api/v1/sites/',
    '/api/v1/sites/?limit=1',
    '/verify/',
    '/openapi.yaml/',
  ])('%s: a path that ends with a slash is another one, which is unknown', async (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS'])
      expect(await send(method, path), method).toMatchObject({ status: 404, code: 'ROUTE_NOT_FOUND' });
  });
});
