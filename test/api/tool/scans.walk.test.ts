import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ScanResponse } from '../../../schemas/api/scans.js';
import { SiteScannedRecord } from '../../../schemas/events/site-scanned.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { MAX_RECORDED_SCANS, recordScan } from '../../../src/tenancy/scans/record-scan.js';
import { createSite } from '../../../src/tenancy/sites/sites.js';
import { chromiumPath } from '../../support/chromium.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { eventually } from '../../support/wait.js';
import { scanResult } from '../../tenancy/scans/scan-result.js';
import { startSite, type TestSite } from '../../tenancy/scans/scanned-shop.js';
import { type Answer, ask, type RunningApp, startApp } from '../server/running-app.js';

/** A page with three undeclared cookies, of which one respects a refusal, and a declared one. */
const PAGE = `<!doctype html><html lang="en"><title>Shop</title><h1>Shop</h1>
<script>
  const refused = document.cookie.includes('_svc_consent');
  document.cookie = 'promo=1; max-age=600';
  if (!refused) document.cookie = 'quiz=1';
  localStorage.setItem('cart_visits', '1');
</script>
<img src="http://127.0.0.1:PORT/pixel.gif" alt="">`;

describe.each([
  ['browser', chromiumPath],
  ['http', ''],
])('scans by %s', (method, chrome) => {
  let app: RunningApp;
  let demo: SeededDemo;
  let shop: TestSite;
  const isBrowser = method === 'browser';
  const skip = chrome === undefined;

  beforeAll(async () => {
    if (skip) return;
    shop = await startSite('127.0.0.1', (request, response) => {
      // No answer of HTTP: some trackers give one.
      if (request.url === '/pixel.gif')
        request.socket.end('HTTP/1.1 000 OK\r\nTrailer: X\r\nContent-Length: 0\r\n\r\n');
      else if (request.url === '/away') response.writeHead(302, { location: `http://127.0.0.1:${shop.port}/` }).end();
      else
        response
          .writeHead(200, { 'content-type': 'text/html', 'set-cookie': ['tracker=1; Max-Age=60', '_visits=2'] })
          .end(PAGE.replace('PORT', String(shop.port)));
    });
    app = await startApp('api', { SCAN_NETWORKS: '127.0.0.1/32', CHROME_PATH: chrome ?? '' });
    demo = await app.seed();
    await app.change("update sites set domain = 'localhost', config_revision = config_revision + 1 where id = $1", [
      demo.site.id,
    ]);
  });
  afterAll(async () => {
    if (skip) return;
    await app.stop();
    await shop.close();
  });

  const scan = (url: string, key = demo.keys.write, more: object = {}): Promise<Answer> => {
    const body = JSON.stringify({ url, ...more });
    return ask(`${app.url}/tool/v1/scans`, {
      method: 'POST',
      headers: { ...signedHeaders(key, '/tool/v1/scans', body) },
      body,
    });
  };
  const page = (host = 'localhost') => `http://${host}:${shop.port}/`;

  it.skipIf(skip)('reports three undeclared cookies, and what is set before a choice and after a refusal', async () => {
    // A busy machine may take longer than a scan waits.
    const data = await eventually(async () => {
      const answer = await scan(page());
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      const { data } = ScanResponse.parse(answer.body);
      expect(data.visits.map(({ choice, status, is_complete }) => [choice, status, is_complete])).toEqual([
        ['none', 200, true],
        ['refused', 200, true],
      ]);
      return data;
    }, 1_000);
    expect(data).toMatchObject({ method, site_id: demo.site.id, url: page() });
    expect(data.site_config_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(data.visits[0]?.third_party_hosts).toEqual(['127.0.0.1']);
    const undeclared = data.findings.filter(({ problem, kind }) => problem === 'undeclared' && kind === 'cookie');
    const names = isBrowser ? ['promo', 'quiz', 'tracker'] : ['tracker'];
    expect(undeclared.map(({ name }) => name).sort()).toEqual(names);
    const early = { kind: 'cookie', name: '_visits', domain: 'localhost', category: 'analytics' };
    expect(data.findings).toContainEqual({ problem: 'before_choice', ...early });
    expect(data.findings).toContainEqual({ problem: 'after_refusal', ...early });
    const after = data.visits[1]?.cookies.map(({ name }) => name) ?? [];
    expect(after.includes('quiz')).toBe(false);
    if (isBrowser) {
      expect(after).toContain('_svc_consent');
      expect(data.findings).toContainEqual({
        problem: 'undeclared',
        kind: 'local_storage',
        name: 'cart_visits',
        domain: null,
        category: null,
      });
    }
    expect(data.findings.some(({ name }) => name.startsWith('_svc_consent'))).toBe(false);
  });

  it.skipIf(skip)('opens the page with the signal, and records that it did', async () => {
    // A tenant has six scans a minute.
    const other = await app.seed();
    await app.change("update sites set domain = 'localhost', config_revision = config_revision + 1 where id = $1", [
      other.site.id,
    ]);
    shop.asked.length = 0;
    const answer = await scan(page(), other.keys.write, { signal: true, record: true });
    const { data } = ScanResponse.parse(answer.body);
    expect(data.signal).toBe(true);
    const visits = shop.asked.filter(({ path }) => path === '/');
    expect(visits.length).toBeGreaterThan(1);
    expect(new Set(visits.map(({ signal }) => signal))).toEqual(new Set(['1']));
    const { rows } = await app.superuser.query('select record from site_scans where event_id = $1', [data.event_id]);
    const [row] = z.array(z.object({ record: z.string() })).parse(rows);
    expect(SiteScannedRecord.parse(JSON.parse(row?.record ?? '')).signal).toBe(true);
  });

  it.skipIf(skip)('refuses every URL that is not on a verified domain of the tenant', async () => {
    const other = await app.seed();
    await app.change("update sites set domain = 'other.example', config_revision = config_revision + 1 where id = $1", [
      other.site.id,
    ]);
    const before = shop.asked.length;
    for (const url of [
      page('127.0.0.1'),
      page('other.example'),
      `http://user:pass@localhost:${shop.port}/`,
      `http://xlocalhost:${shop.port}/`,
      'file:///etc/passwd',
    ])
      expect(await scan(url), url).toMatchObject({ status: 422, body: { code: 'SCAN_URL_REFUSED' } });
    expect(shop.asked.length).toBe(before);
  });
});

describe('the scan of a page', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  beforeAll(async () => {
    app = await startApp('api');
    demo = await app.seed();
    await app.change("update sites set domain = 'localhost', config_revision = config_revision + 1 where id = $1", [
      demo.site.id,
    ]);
  });
  afterAll(() => app.stop());
  const scan = (url: string, key = demo.keys.write, headers: Record<string, string> = {}): Promise<Answer> => {
    const body = JSON.stringify({ url });
    return ask(`${app.url}/tool/v1/scans`, {
      method: 'POST',
      headers: { ...signedHeaders(key, '/tool/v1/scans', body), ...headers },
      body,
    });
  };

  it('reaches no private address unless the operator lists it, and no other port', async () => {
    expect(await scan('http://localhost/')).toMatchObject({
      status: 422,
      body: { code: 'SCAN_FAILED', message: expect.stringContaining('no public address') },
    });
    expect(await scan('http://localhost:6379/')).toMatchObject({ status: 422, body: { code: 'SCAN_URL_REFUSED' } });
  });

  it('refuses a site that is not verified, a read key, a publishable key and a request without a signature', async () => {
    const { key } = await createApiKey(app.service.installation.adminPool, demo.site.id, 'write', {
      restriction: 'publishable',
    });
    const origin = { origin: 'https://localhost' };
    expect(await scan('http://localhost/', key, origin)).toMatchObject({ body: { code: 'INSUFFICIENT_SCOPE' } });
    expect(await scan('http://localhost/', demo.keys.read)).toMatchObject({ body: { code: 'INSUFFICIENT_SCOPE' } });
    const unsigned = await ask(`${app.url}/tool/v1/scans`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': demo.keys.write },
      body: '{}',
    });
    expect(unsigned).toMatchObject({ status: 401, body: { code: 'MISSING_SIGNATURE_HEADERS' } });
  });

  it('records a scan with a key of the site only, and twenty of a site in 24 hours', async () => {
    const owner = await app.seed();
    await app.change("update sites set domain = 'localhost', config_revision = config_revision + 1 where id = $1", [
      owner.site.id,
    ]);
    const record = (url: string, key: string): Promise<Answer> => {
      const body = JSON.stringify({ url, record: true });
      return ask(`${app.url}/tool/v1/scans`, {
        method: 'POST',
        headers: { ...signedHeaders(key, '/tool/v1/scans', body) },
        body,
      });
    };
    const { id: sister } = await createSite(app.service.installation.adminPool, {
      tenantId: owner.tenant_id,
      name: 'Sister',
      domain: 'sister.example',
      isVerified: true,
      allowedOrigins: [],
      allowedIps: [],
    });
    const { key } = await createApiKey(app.service.installation.adminPool, sister, 'write');
    expect(await record('http://localhost/', key)).toMatchObject({
      status: 422,
      body: { code: 'SCAN_URL_REFUSED', message: expect.stringContaining('API key of that site') },
    });

    const { apiPool: pool } = app.service.installation;
    const found = scanResult(owner.site.id);
    for (let n = 0; n < MAX_RECORDED_SCANS; n += 1) await recordScan(pool, found, 'localhost');
    const refused = await record('http://localhost/', owner.keys.write);
    expect(refused).toMatchObject({ status: 429, body: { code: 'SCAN_RECORDS_EXCEEDED' } });
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(86_000);
    expect(wait).toBeLessThanOrEqual(86_400);
    await expect(recordScan(pool, found, 'localhost')).rejects.toMatchObject({ code: 'SCAN_RECORDS_EXCEEDED' });
    await app.superuser.query("update site_scans set recorded_at = recorded_at - interval '1 day' where site_id = $1", [
      owner.site.id,
    ]);
    await expect(recordScan(pool, found, 'other.example')).rejects.toMatchObject({ code: 'SCAN_URL_REFUSED' });
    expect(await recordScan(pool, found, 'localhost')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('permits a tenant six scans a minute', async () => {
    const limited = await app.seed();
    const codes: unknown[] = [];
    for (let n = 0; n < 7; n += 1) {
      const { body } = await scan('http://nowhere.example/', limited.keys.write);
      codes.push(z.looseObject({ code: z.string() }).parse(body).code);
    }
    expect(codes).toEqual([...Array.from({ length: 6 }, () => 'SCAN_URL_REFUSED'), 'SCAN_LIMIT_EXCEEDED']);
  });
});
