import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigResponse } from '../../../schemas/api/config.js';
import { ActiveDocumentResponse, ActiveDocumentsResponse } from '../../../schemas/api/documents.js';
import { PingResponse } from '../../../schemas/api/ping.js';
import type { SeededDemo, SeedOptions } from '../../../src/demo/seed/seed-demo.js';
import { ask, get, type RunningApp, startApp } from '../server/running-app.js';

const HOST = 'scanner.example';

interface Scanned {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

describe('the public scanner', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let clients = 0;
  beforeAll(async () => {
    app = await startApp('api', { SCANNER_HOST: HOST, TRUSTED_PROXIES: '127.0.0.1' });
    demo = await seedAt('scanned.example');
  });
  afterAll(() => app.stop());

  const seedAt = async (domain: string, options: Partial<SeedOptions> = {}): Promise<SeededDemo> => {
    const seeded = await app.seed(options);
    await app.change('update sites set domain = $2, config_revision = config_revision + 1 where id = $1', [
      seeded.site.id,
      domain,
    ]);
    return seeded;
  };

  /** A request of a new client each time, unless the test names its address. */
  const scan = (path: string, headers: Record<string, string> = {}, body: string | null = null): Promise<Scanned> => {
    const { hostname, port } = new URL(app.url);
    clients += 1;
    return new Promise((resolve, reject) => {
      const sent = request({
        hostname,
        port,
        path: `/tool/v1/${path}`,
        method: body === null ? 'GET' : 'POST',
        headers: { host: `${HOST}:${port}`, 'x-forwarded-for': `198.51.100.${clients}`, ...headers },
      });
      sent.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode, headers: response.headers, body: JSON.parse(text) }),
        );
      });
      sent.on('error', reject);
      sent.end(body ?? undefined);
    });
  };
  const domain = 'domain=scanned.example';

  test('scans and records no page without an API key', async () => {
    const body = JSON.stringify({ url: 'https://scanned.example/', record: true });
    const refused = await scan(`scans?${domain}`, { 'content-type': 'application/json' }, body);
    expect(refused).toMatchObject({ status: 401, body: { code: 'MISSING_API_KEY' } });
    const { rows } = await app.superuser.query('select from site_scans');
    expect(rows).toEqual([]);
  });

  test('serves ping, configuration and documents of a verified domain without an API key', async () => {
    expect(PingResponse.parse((await scan(`ping?${domain}`)).body).data).toMatchObject({
      site_id: demo.site.id,
      scope: 'public',
    });
    const config = await scan('config?domain=SCANNED.example&language=tr');
    expect(ConfigResponse.parse(config.body).data).toMatchObject({ language: 'tr', site: demo.site });
    expect(config.headers).toMatchObject({ 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '9' });
    const list = ActiveDocumentsResponse.parse((await scan(`documents/active?${domain}`)).body);
    expect(list.data.documents.map(({ slug }) => slug)).toEqual(['cookie-policy', 'explicit-consent']);
    const one = ActiveDocumentResponse.parse((await scan(`documents/cookie-policy/active?${domain}`)).body);
    expect(one.data.content).not.toBe('');
    expect(await scan(`documents/nothing/active?${domain}`)).toMatchObject({
      status: 404,
      body: { code: 'DOCUMENT_NOT_FOUND' },
    });
  });

  test('answers with a key as the main host does, whatever domain is named', async () => {
    const answer = await scan('ping?domain=other.example', { 'x-api-key': demo.keys.read });
    expect(answer).toMatchObject({ status: 200, body: { data: { site_id: demo.site.id, scope: 'read' } } });
    expect((await scan(`config?key=${demo.keys.read}`)).status).toBe(200);
    expect(await scan(`config?${domain}&key=svc_live_unknown`)).toMatchObject({ status: 401 });
    expect(await scan(`ping?${domain}`, { 'x-api-key': 'svc_live_unknown' })).toMatchObject({
      status: 401,
      body: { code: 'INVALID_API_KEY' },
    });
  });

  test('requires a key on the main host and on every other route', async () => {
    expect(await ask(`${app.url}/tool/v1/config?${domain}`)).toMatchObject({
      status: 401,
      body: { code: 'MISSING_API_KEY' },
    });
    expect((await get(app, '/tool/v1/config', demo.keys.read)).status).toBe(200);
    for (const path of [
      `consents/status?visitor_id=x&${domain}`,
      `consents/verify/x?${domain}`,
      `s2s/erasures?${domain}`,
    ])
      expect(await scan(path), path).toMatchObject({ status: 401, body: { code: 'MISSING_API_KEY' } });
    expect(await scan('config')).toMatchObject({
      status: 401,
      body: { code: 'MISSING_API_KEY', message: expect.stringContaining('?domain=') },
    });
  });

  test('answers a domain that no site has verified like one that does not exist', async () => {
    await seedAt('unverified.example', { isVerified: false });
    for (const name of ['unverified.example', 'nowhere.example', 'a%00b', "x'--", 'x'.repeat(300)])
      expect(await scan(`config?domain=${name}`), name).toMatchObject({
        status: 404,
        body: { code: 'SITE_NOT_FOUND' },
      });
    const altered = await seedAt('altered.example');
    expect((await scan('ping?domain=altered.example')).status).toBe(200);
    await app.superuser.query(
      "update sites set config_revision = config_revision + 1, allowed_origins = '{https://x.example}' where id = $1",
      [altered.site.id],
    );
    await expect
      .poll(() => scan('ping?domain=altered.example'))
      .toMatchObject({ status: 404, body: { code: 'SITE_NOT_FOUND' } });
  });

  test('answers for the site that verified a domain last', async () => {
    await seedAt('sold.example');
    const buyer = await seedAt('sold.example');
    expect(await scan('ping?domain=sold.example')).toMatchObject({ body: { data: { site_id: buyer.site.id } } });
  });

  test('applies the lists of addresses and origins of the site', async () => {
    await seedAt('closed.example', { allowedIps: ['192.0.2.0/24'] });
    expect(await scan('config?domain=closed.example')).toMatchObject({ status: 403, body: { code: 'IP_NOT_ALLOWED' } });
    expect((await scan('config?domain=closed.example', { 'x-forwarded-for': '192.0.2.9' })).status).toBe(200);
    await seedAt('listed.example', { allowedOrigins: ['https://listed.example'] });
    const from = (origin: string) => scan('config?domain=listed.example', { origin });
    expect(await from('https://other.example')).toMatchObject({ status: 403, body: { code: 'ORIGIN_NOT_ALLOWED' } });
    expect((await from('https://listed.example')).status).toBe(200);
  });

  test.each([
    ['one IPv4 address', () => '203.0.113.7'],
    ['one IPv6 network', (n: number) => `2001:db8:1:2::${n.toString(16)}`],
  ])('lets %s through ten times a minute, failures included, and no other', async (_, addressOf) => {
    const from = (n: number, path = `ping?${domain}`) => scan(path, { 'x-forwarded-for': addressOf(n) });
    for (let n = 1; n <= 10; n += 1) {
      const path = n % 2 === 0 ? 'ping?domain=nowhere.example' : undefined;
      expect((await from(n, path)).status).toBe(n % 2 === 0 ? 404 : 200);
    }
    const refused = await from(11);
    expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await scan(`ping?${domain}`)).status).toBe(200);
    expect((await scan('ping', { 'x-forwarded-for': addressOf(12), 'x-api-key': demo.keys.read })).status).toBe(200);
  });
});
