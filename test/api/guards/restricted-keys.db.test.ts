import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createRateLimiter } from '../../../src/api/guards/rate-limiter.js';
import { requestSignature } from '../../../src/api/guards/signature.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { type ApiKeyRestriction, createApiKey, rotateApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { type Answer, ask, get, type RunningApp, startApp } from '../server/running-app.js';

const ORIGIN = 'https://shop.example';
const Config = z.object({
  data: z.object({ documents: z.array(z.object({ version: z.object({ id: z.string() }) })) }),
});

describe('API keys that are restricted to browsers or to backends', () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp('api', { TRUSTED_PROXIES: '127.0.0.1' });
  });
  afterAll(() => app.stop());

  async function siteWithKey(
    restriction: ApiKeyRestriction,
    options: Parameters<RunningApp['seed']>[0] = { allowedOrigins: [ORIGIN] },
    scope: 'read' | 'write' = 'write',
  ): Promise<{ readonly site: SeededDemo; readonly key: string }> {
    const site = await app.seed(options);
    const { adminPool } = app.service.installation;
    return { site, key: (await createApiKey(adminPool, site.site.id, scope, { restriction })).key };
  }

  function post(
    path: string,
    key: string,
    payload: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    const body = JSON.stringify(payload);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const nonce = crypto.randomUUID();
    const signature = requestSignature(key, { method: 'POST', path, timestamp, nonce, body: Buffer.from(body) });
    return ask(`${app.url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': key,
        'x-timestamp': timestamp,
        'x-nonce': nonce,
        'x-signature': signature,
        ...headers,
      },
      body,
    });
  }

  async function cookieConsent(key: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
    const { body } = await get(app, '/tool/v1/config', key, headers);
    const [document] = Config.parse(body).data.documents;
    return { consent_type: 'cookie', decision: 'accepted', document_version_id: document?.version.id };
  }

  it('records consents of a browser with a publishable key', async () => {
    const { key } = await siteWithKey('publishable');
    const headers = { origin: ORIGIN };
    const answer = await post('/tool/v1/consents', key, await cookieConsent(key, headers), headers);
    expect(answer).toMatchObject({ status: 202 });
  });

  it.each([
    ['without an origin', {}],
    ['on another origin', { origin: 'https://evil.example' }],
    ['in a sandboxed frame', { origin: 'null' }],
  ])('refuses a publishable key %s', async (_, headers) => {
    const { key } = await siteWithKey('publishable');
    expect(await get(app, '/tool/v1/config', key, headers)).toMatchObject({
      status: 403,
      body: { code: 'ORIGIN_NOT_ALLOWED' },
    });
    expect(await post('/tool/v1/consents', key, {}, headers)).toMatchObject({
      status: 403,
      body: { code: 'ORIGIN_NOT_ALLOWED' },
    });
  });

  it('lets a publishable key work on the domain of the site alone if no origin is listed', async () => {
    const { site, key } = await siteWithKey('publishable', {});
    const { domain } = site.site;
    const statusOn = async (origin: string): Promise<number> =>
      (await get(app, '/tool/v1/config', key, { origin })).status;
    expect(await statusOn(`https://${domain}`)).toBe(200);
    expect(await statusOn(`https://www.${domain}`)).toBe(200);
    expect(await statusOn(`https://evil${domain}`)).toBe(403);
    expect(await statusOn(`https://${domain}.evil.example`)).toBe(403);
    expect(await statusOn(`http://${domain}`)).toBe(403);
  });

  it('refuses a publishable key on S2S routes, whatever else the request has', async () => {
    const { key } = await siteWithKey('publishable');
    for (const answer of [
      await post('/tool/v1/s2s/consents', key, {}, { origin: ORIGIN }),
      await post('/tool/v1/s2s/approval-tokens', key, {}, { origin: ORIGIN }),
      await get(app, '/tool/v1/s2s/consents/export', key, { origin: ORIGIN }),
    ])
      expect(answer).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } });
  });

  it('refuses a secret key in a browser, and lets it in otherwise', async () => {
    const { key } = await siteWithKey('secret');
    expect((await get(app, '/tool/v1/config', key)).status).toBe(200);
    const refused = await get(app, '/tool/v1/config', key, { origin: ORIGIN });
    expect(refused).toMatchObject({ status: 403, body: { code: 'ORIGIN_NOT_ALLOWED' } });
    expect(refused.body).toHaveProperty('message', expect.stringContaining('publishable'));
  });

  it('takes the key of a page in the address of the configuration, and a secret one nowhere in an address', async () => {
    const [page, secret] = [await siteWithKey('publishable'), await siteWithKey('secret')];
    const at = (path: string, headers: Record<string, string> = { origin: ORIGIN }) => ask(app.url + path, { headers });
    const config = `/tool/v1/config?language=en&key=${page.key}`;
    expect((await at(config)).body).toEqual((await get(app, '/tool/v1/config', page.key, { origin: ORIGIN })).body);
    expect(await at(config, {})).toMatchObject({ status: 403, body: { code: 'ORIGIN_NOT_ALLOWED' } });
    const refused = { status: 401, body: { code: 'MISSING_API_KEY' } };
    expect(await at(`/tool/v1/config?key=${secret.key}`, {})).toMatchObject(refused);
    expect(await at('/tool/v1/config?key=')).toMatchObject(refused);
    expect(await at(`/tool/v1/consents/status?visitor_id=v&key=${page.key}`)).toMatchObject(refused);
    expect(await at('/tool/v1/config?key=svc_live_unknown')).toMatchObject({
      status: 401,
      body: { code: 'INVALID_API_KEY' },
    });
  });

  it('keeps the restriction when a key is rotated', async () => {
    const { site } = await siteWithKey('secret');
    const { rows } = await app.superuser.query(
      'select id from api_keys where site_id = $1 and restriction is not null',
      [site.site.id],
    );
    const { adminPool, keyring } = app.service.installation;
    const { key } = await rotateApiKey(adminPool, keyring, site.site.id, String(rows[0]?.id), 0);
    expect((await get(app, '/tool/v1/config', key)).status).toBe(200);
    expect((await get(app, '/tool/v1/config', key, { origin: ORIGIN })).status).toBe(403);
  });

  it('grants nothing to a key whose restriction was removed by SQL', async () => {
    const { site, key } = await siteWithKey('publishable');
    await app.superuser.query('update api_keys set restriction = null where site_id = $1', [site.site.id]);
    await expect.poll(async () => (await get(app, '/tool/v1/config', key, { origin: ORIGIN })).status).toBe(401);
  });

  it('does not let visitors use up the budget of the backend, nor one address that of the others', async () => {
    const { site, key } = await siteWithKey('publishable', { allowedOrigins: [ORIGIN], rateLimit: 40 });
    const from = (address: string): Promise<Answer> =>
      get(app, '/tool/v1/ping', key, { origin: ORIGIN, 'x-forwarded-for': address });
    const statuses = async (address: string, count: number): Promise<number[]> =>
      (await Promise.all(Array.from({ length: count }, () => from(address)))).map(({ status }) => status);
    expect((await statuses('198.51.100.1', 12)).filter((status) => status === 200)).toHaveLength(10);
    for (const address of ['198.51.100.2', '198.51.100.3', '198.51.100.4'])
      expect((await statuses(address, 10)).every((status) => status === 200)).toBe(true);
    // All publishable keys of the tenant together.
    expect(await statuses('198.51.100.5', 1)).toEqual([429]);
    expect((await get(app, '/tool/v1/ping', site.keys.read)).status).toBe(200);
  });

  it('shows the limit that is reached first, and counts a refused request for neither', async () => {
    const { site, key } = await siteWithKey('publishable', { allowedOrigins: [ORIGIN], rateLimit: 40 });
    const ping = async (address: string) => {
      const { status, headers } = await get(app, '/tool/v1/ping', key, { origin: ORIGIN, 'x-forwarded-for': address });
      return [status, ...['limit', 'remaining'].map((name) => Number(headers.get(`x-ratelimit-${name}`)))];
    };
    const inTurn = async (address: string, count: number): Promise<number[][]> => {
      const answers: number[][] = [];
      for (let i = 0; i < count; i += 1) answers.push(await ping(address));
      return answers;
    };
    expect(await inTurn('198.51.100.1', 3)).toEqual([9, 8, 7].map((remaining) => [200, 10, remaining]));
    for (const address of ['198.51.100.2', '198.51.100.3', '198.51.100.4']) await inTurn(address, 10);
    expect(await inTurn('198.51.100.5', 2)).toEqual([6, 5].map((remaining) => [200, 40, remaining]));
    await inTurn('198.51.100.6', 5);
    expect(await inTurn('198.51.100.5', 20)).toEqual(Array.from({ length: 20 }, () => [429, 40, 0]));
    // The whole of the tenant is free again; of the address, two requests count.
    const limiter = createRateLimiter({
      db: app.superuser,
      hashKey: await app.service.installation.keyring.throttleKey(),
    });
    for (let i = 0; i < 40; i += 1) await limiter.giveBack('publishable', site.tenant_id);
    expect(await ping('198.51.100.5')).toEqual([200, 10, 7]);
  });

  it('counts the configuration that every visit loads by address alone', async () => {
    const { key } = await siteWithKey('publishable', { allowedOrigins: [ORIGIN], rateLimit: 10 });
    const visits = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        get(app, '/tool/v1/config', key, { origin: ORIGIN, 'x-forwarded-for': `198.51.100.${i}` }),
      ),
    );
    expect(visits.filter(({ status }) => status === 200)).toHaveLength(50);
  });

  it('takes nothing from the budget for refused origins and addresses', async () => {
    const site = await app.seed({ allowedOrigins: [ORIGIN], rateLimit: 2 });
    for (let i = 0; i < 5; i += 1)
      expect((await get(app, '/tool/v1/ping', site.keys.read, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await get(app, '/tool/v1/ping', site.keys.read, { origin: ORIGIN })).status).toBe(200);
    expect((await get(app, '/tool/v1/ping', site.keys.read, { origin: ORIGIN })).status).toBe(200);
    expect((await get(app, '/tool/v1/ping', site.keys.read, { origin: ORIGIN })).status).toBe(429);
  });

  it.each(['/tool/v1/config', '/tool/v1/documents/active', '/tool/v1/documents/cookie-policy/active'])(
    'lets a browser keep %s, and answers 304 while it is current',
    async (path) => {
      const site = await app.seed();
      const first = await get(app, path, site.keys.read);
      expect(first.headers.get('cache-control')).toBe('private, max-age=60, stale-while-revalidate=600');
      expect(first.headers.get('vary')).toBe('Origin, X-API-Key, Accept-Language, Accept-Encoding');
      const etag = first.headers.get('etag') ?? '';
      const again = await fetch(`${app.url}${path}`, {
        headers: { 'x-api-key': site.keys.read, 'if-none-match': etag },
      });
      expect({ status: again.status, body: await again.text() }).toEqual({ status: 304, body: '' });
      const other = await fetch(`${app.url}${path}`, {
        headers: { 'x-api-key': site.keys.read, 'if-none-match': '"other"' },
      });
      expect(other.status).toBe(200);
    },
  );

  it('compresses what the site published, once for each coding, and no answer about a person', async () => {
    const site = await app.seed();
    const read = async (path: string, coding: string): Promise<Response> =>
      fetch(app.url + path, { headers: { 'x-api-key': site.keys.read, 'accept-encoding': coding } });
    const codings = ['identity', 'gzip', 'br'];
    const answers = await Promise.all(codings.map((coding) => read('/tool/v1/config', coding)));
    expect(answers.map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip', 'br']);
    const [text, ...others] = await Promise.all(answers.map((answer) => answer.text()));
    expect(others).toEqual([text, text]);
    expect(new Set(answers.map(({ headers }) => headers.get('etag'))).size).toBe(3);
    const lengths = answers.map(({ headers }) => Number(headers.get('content-length')));
    expect(lengths[1]).toBeLessThan((lengths[0] ?? 0) / 2);
    for (const path of [
      '/tool/v1/ping',
      `/tool/v1/consents/status?visitor_id=${'v'.repeat(200)}`,
      `/tool/v1/config?language=${'x'.repeat(8)}`,
    ])
      expect((await read(path, 'gzip')).headers.get('content-encoding'), path).toBeNull();
  });
});
