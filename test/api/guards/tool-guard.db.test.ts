import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { revokeApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { changeSite } from '../../../src/tenancy/sites/change-site.js';
import { type Answer, ask, get, type RunningApp, startApp } from '../server/running-app.js';

const Login = z.object({ data: z.object({ access_token: z.string() }) });

describe('the checks before a request is read', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  beforeAll(async () => {
    app = await startApp('api', { INVALID_KEY_LIMIT: '8', TRUSTED_PROXIES: '127.0.0.1' });
    demo = await app.seed();
  });
  afterAll(() => app.stop());

  const expectError = (answer: Answer, status: number, code: string): void => {
    expect(answer).toMatchObject({ status, body: { code, error_code: code, error: { code } } });
    expect(answer.body).toHaveProperty('message', expect.stringMatching(/\w/));
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  };

  it('asks for an API key', async () => {
    const answer = await ask(`${app.url}/tool/v1/ping`);
    expectError(answer, 401, 'MISSING_API_KEY');
    expect(answer.headers.get('www-authenticate')).toBe('ApiKey');
  });

  it('lets a key in', async () => {
    const answer = await get(app, '/tool/v1/ping', demo.keys.read);
    expect(answer).toMatchObject({
      status: 200,
      body: { message: 'pong', data: { site_id: demo.site.id, scope: 'read' } },
    });
  });

  it('counts unknown keys by address, and goes on answering those who have one', async () => {
    const unknown = `svc_live_${'A'.repeat(43)}`;
    const from = { 'x-forwarded-for': '198.51.100.7' };
    for (let i = 0; i < 8; i += 1) {
      expectError(await get(app, '/tool/v1/ping', i % 2 === 0 ? unknown : 'nonsense', from), 401, 'INVALID_API_KEY');
    }
    const refused = await get(app, '/tool/v1/ping', unknown, from);
    expectError(refused, 429, 'TOO_MANY_INVALID_API_KEYS');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await get(app, '/tool/v1/ping', demo.keys.read, from)).status).toBe(200);
    expectError(
      await get(app, '/tool/v1/ping', unknown, { 'x-forwarded-for': '198.51.100.8' }),
      401,
      'INVALID_API_KEY',
    );
  });

  it('refuses a revoked key within a second', async () => {
    const other = await app.seed();
    expect((await get(app, '/tool/v1/ping', other.keys.read)).status).toBe(200);
    const { rows } = await app.superuser.query(`select id from api_keys where site_id = $1 and scope = 'read'`, [
      other.site.id,
    ]);
    await revokeApiKey(app.service.installation.adminPool, other.site.id, String(rows[0]?.id));
    await expect
      .poll(
        async () => (await get(app, '/tool/v1/ping', other.keys.read, { 'x-forwarded-for': '198.51.100.9' })).status,
        { interval: 250 },
      )
      .toBe(401);
  });

  it('holds the plan’s rate limit over all keys of the tenant, and says where one stands', async () => {
    const limited = await app.seed({ rateLimit: 3 });
    const first = await get(app, '/tool/v1/ping', limited.keys.read);
    expect(first.headers.get('x-ratelimit-limit')).toBe('3');
    expect(first.headers.get('x-ratelimit-remaining')).toBe('2');
    expect(first.headers.get('ratelimit-policy')).toBe('"minute";q=3;w=60');
    const more = await Promise.all(
      Array.from({ length: 5 }, (_, i) => get(app, '/tool/v1/config', i % 2 ? limited.keys.read : limited.keys.write)),
    );
    const refused = more.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(3);
    for (const answer of refused) {
      expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
      expect(answer.headers.get('x-ratelimit-remaining')).toBe('0');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
  });

  it('refuses a site that is not verified', async () => {
    const unverified = await app.seed({ isVerified: false });
    expectError(await get(app, '/tool/v1/config', unverified.keys.read), 403, 'SITE_NOT_VERIFIED');
  });

  it('holds the list of origins for browsers, and lets servers through', async () => {
    const origin = 'https://shop.example';
    const site = await app.seed({ allowedOrigins: [origin] });
    const refused = await get(app, '/tool/v1/config', site.keys.read, { origin: 'https://evil.example' });
    expectError(refused, 403, 'ORIGIN_NOT_ALLOWED');
    // The page must be able to read the code.
    expect(refused.headers.get('access-control-allow-origin')).toBe('https://evil.example');
    expectError(await get(app, '/tool/v1/config', site.keys.read, { origin: 'null' }), 403, 'ORIGIN_NOT_ALLOWED');
    const allowed = await get(app, '/tool/v1/config', site.keys.read, { origin });
    expect(allowed.status).toBe(200);
    expect(allowed.headers.get('access-control-allow-origin')).toBe(origin);
    expect(allowed.headers.get('access-control-expose-headers')).toMatch(/Retry-After.*Idempotency-Mismatch/);
    expect((await get(app, '/tool/v1/config', site.keys.read)).status).toBe(200);
  });

  it('holds the list of addresses, IPv4 and IPv6, and believes only trusted proxies', async () => {
    const site = await app.seed({ allowedIps: ['203.0.113.0/24', '2001:db8::/32'] });
    const statusFrom = async (address: string) =>
      (await get(app, '/tool/v1/config', site.keys.read, { 'x-forwarded-for': address })).status;
    expectError(await get(app, '/tool/v1/config', site.keys.read), 403, 'IP_NOT_ALLOWED');
    expect(await statusFrom('203.0.113.9')).toBe(200);
    expect(await statusFrom('203.0.114.9')).toBe(403);
    expect(await statusFrom('2001:db8::1')).toBe(200);
    expect(await statusFrom('2001:db9::1')).toBe(403);
    expect(await statusFrom('::ffff:203.0.113.9')).toBe(200);
    // The address before the untrusted one is only what that one says.
    expect(await statusFrom('203.0.113.9, 192.0.2.1')).toBe(403);
  });

  it('reads IPv4 addresses in IPv6 form, which stood in lists before they were refused there', async () => {
    const mapped = [
      [['::ffff:203.0.113.9'], 403, 200],
      [['::ffff:203.0.113.0/120'], 403, 200],
      [['::ffff:0:0/96'], 200, 200],
      [['::ffff:cb00:7100/120', '2001:db8::/32'], 403, 200],
    ] as const;
    for (const [list, other, listed] of mapped) {
      const site = await app.seed();
      await app.change('update sites set allowed_ips = $2::cidr[] where id = $1', [site.site.id, list]);
      const statusFrom = async (address: string) =>
        (await get(app, '/tool/v1/ping', site.keys.read, { 'x-forwarded-for': address })).status;
      expect(await statusFrom('198.51.100.9'), list.join()).toBe(other);
      expect(await statusFrom('203.0.113.9'), list.join()).toBe(listed);
      expect(await statusFrom('::ffff:203.0.113.9'), list.join()).toBe(listed);
    }
  });

  it('answers a browser’s preflight from any origin, without a key', async () => {
    const response = await fetch(`${app.url}/tool/v1/consents`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-api-key,x-person-token,x-signature,x-timestamp,x-nonce,content-type',
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, POST');
    const allowed = response.headers.get('access-control-allow-headers')?.toLowerCase() ?? '';
    for (const name of ['x-api-key', 'x-person-token', 'x-signature', 'x-timestamp', 'x-nonce', 'content-type'])
      expect(allowed).toContain(name);
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
  });

  it('lets a read key read only', async () => {
    const post = {
      method: 'POST',
      headers: { 'x-api-key': demo.keys.read, 'content-type': 'application/json' },
      body: '{}',
    };
    expectError(await ask(`${app.url}/tool/v1/consents`, post), 403, 'INSUFFICIENT_SCOPE');
  });

  it('asks for the bearer token of an api_user of the tenant on S2S routes', async () => {
    const other = await app.seed();
    const bearerOf = async ({ email, password }: SeededDemo['api_user']): Promise<string> => {
      const { body } = await ask(`${app.url}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, password }),
      });
      return Login.parse(body).data.access_token;
    };
    const asUser = (headers: Record<string, string>) =>
      ask(`${app.url}/tool/v1/s2s/consents`, {
        method: 'POST',
        headers: { 'x-api-key': demo.keys.write, 'content-type': 'application/json', ...headers },
        body: '{}',
      });
    const missing = await asUser({});
    expectError(missing, 401, 'MISSING_BEARER_TOKEN');
    expect(missing.headers.get('www-authenticate')).toBe('Bearer');
    expectError(await asUser({ authorization: 'Bearer x.y.z' }), 401, 'INVALID_BEARER_TOKEN');
    expectError(await asUser({ authorization: 'Basic eDp5' }), 401, 'INVALID_BEARER_TOKEN');
    expectError(await asUser({ authorization: `Bearer ${await bearerOf(demo.panel_user)}` }), 403, 'INSUFFICIENT_ROLE');
    expectError(await asUser({ authorization: `Bearer ${await bearerOf(other.api_user)}` }), 403, 'TENANT_MISMATCH');
    const right = await asUser({ authorization: `Bearer ${await bearerOf(demo.api_user)}` });
    expectError(right, 401, 'MISSING_SIGNATURE_HEADERS');
  });

  it('says that keys cannot be looked up, when to come again, and never a stale answer, while the database is away', async () => {
    const site = await app.seed();
    await changeSite(app.service.installation.adminPool, site.site.id, async () => undefined);
    await app.superuser.query('alter table api_keys rename to api_keys_away');
    try {
      await expect
        .poll(async () => (await get(app, '/tool/v1/ping', site.keys.read)).status, { interval: 250 })
        .toBe(503);
      const answer = await get(app, '/tool/v1/ping', site.keys.read);
      expectError(answer, 503, 'API_KEY_LOOKUP_UNAVAILABLE');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    } finally {
      await app.superuser.query('alter table api_keys_away rename to api_keys');
    }
    expect((await get(app, '/tool/v1/ping', site.keys.read)).status).toBe(200);
  });
});
