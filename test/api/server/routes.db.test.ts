import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CheckpointsResponse, ConsistencyResponse } from '../../../schemas/api/checkpoints.js';
import { ConfigResponse } from '../../../schemas/api/config.js';
import { ActiveDocumentResponse, ActiveDocumentsResponse } from '../../../schemas/api/documents.js';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import { fromHex } from '../../../schemas/crypto/encoding.js';
import { parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { parseNote } from '../../../schemas/evidence/signed-note.js';
import { verifyConsistency } from '../../../schemas/merkle/verify-consistency.js';
import { createHealthServer } from '../../../src/app/health-server.js';
import { createMetrics } from '../../../src/app/metrics/metrics.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { createSite } from '../../../src/tenancy/sites/sites.js';
import { createTenant, PLANS } from '../../../src/tenancy/tenants/tenants.js';
import { countLocks } from '../../support/count-locks.js';
import { type Answer, ask, get, type RunningApp, startApp } from './running-app.js';

describe('the reading routes', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  beforeAll(async () => {
    app = await startApp('serve', { SCANNER_HOST: 'scanner.example', LOG_LEVEL: 'debug' });
    demo = await app.seed();
  });
  afterAll(() => app.stop());

  const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> =>
    ask(app.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: new Uint8Array(Buffer.from(body)),
    });
  const login = (content: object) => post('/api/v1/auth/login', JSON.stringify(content));

  it('gives the banner’s configuration in the language asked for', async () => {
    const configIn = async (query: string, headers: Record<string, string> = {}) =>
      ConfigResponse.strict().parse((await get(app, `/tool/v1/config${query}`, demo.keys.read, headers)).body).data;
    const tr = await configIn('?language=tr');
    expect(tr).toMatchObject({ language: 'tr', default_language: 'en', site: demo.site });
    expect(tr.documents.map(({ slug, language }) => ({ slug, language }))).toEqual([
      { slug: 'cookie-policy', language: 'tr' },
      { slug: 'explicit-consent', language: 'tr' },
    ]);
    expect(tr.categories.map(({ key, title }) => [key, title])).toContainEqual(['analytics', 'İstatistik']);
    // The demonstration states some of the texts itself.
    expect(tr.labels.always_on).toEqual({ text: 'Her zaman açık', language: 'tr' });
    for (const [name, text] of Object.entries(tr.banner).filter(([name]) => name in tr.labels))
      expect(tr.labels).toMatchObject({ [name]: { text, language: 'tr' } });
    expect(tr.direction).toBe('ltr');
    expect((await configIn('?language=TR-tr')).language).toBe('tr');
    expect((await configIn('?language=fr')).language).toBe('en');
    expect((await configIn('', { 'accept-language': 'fr, tr;q=0.8, en;q=0.5' })).language).toBe('tr');
    expect((await configIn('', { 'accept-language': '*' })).language).toBe('en');
    const active = demo.documents[0]?.versions.find(({ language, state }) => language === 'en' && state === 'active');
    expect((await configIn('?language=en')).documents[0]?.version.id).toBe(active?.id);
    expect(await get(app, '/tool/v1/config?language=..', demo.keys.read)).toMatchObject({
      status: 200,
      body: { data: { language: 'en', warnings: [{ field: 'language', message: expect.any(String) }] } },
    });
  });

  it('says that a site without a configuration has none', async () => {
    const pool = app.service.installation.adminPool;
    const tenant = await createTenant(pool, 'new', PLANS.standard);
    const bare = { name: 'new', domain: 'new.example', isVerified: true, allowedOrigins: [], allowedIps: [] };
    const site = await createSite(pool, { tenantId: tenant.id, ...bare });
    const { key } = await createApiKey(pool, site.id, 'read');
    expect(await get(app, '/tool/v1/config', key)).toMatchObject({ status: 409, body: { code: 'CONFIG_OUTDATED' } });
    expect(await get(app, '/tool/v1/documents/active', key)).toMatchObject({
      status: 200,
      body: { data: { documents: [] } },
    });
  });

  it('gives the active documents, and one with the content that its hash is over', async () => {
    const all = ActiveDocumentsResponse.parse(
      (await get(app, '/tool/v1/documents/active?language=tr', demo.keys.read)).body,
    );
    expect(all.data.documents).toHaveLength(2);
    for (const { slug } of all.data.documents) {
      const answer = await get(app, `/tool/v1/documents/${slug}/active?language=tr`, demo.keys.read);
      const { data } = ActiveDocumentResponse.parse(answer.body);
      expect(data.language).toBe('tr');
      expect(sha256Hex(data.content)).toBe(data.version.content_sha256);
    }
    for (const slug of ['unknown', 'a%00b', '..', 'X'.repeat(90)]) {
      const answer = await get(app, `/tool/v1/documents/${slug}/active`, demo.keys.read);
      expect(answer, slug).toMatchObject({
        status: 404,
        body: { code: expect.stringMatching(/^(DOCUMENT|ROUTE)_NOT_FOUND$/) },
      });
    }
  });

  it('shows a page to people at an address that leads nowhere, and JSON to every client of an API', async () => {
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const answerTo = async (path: string, accept: string, method = 'GET') => {
      const response = await fetch(app.url + path, { method, headers: { accept } });
      return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
    };
    const json = await answerTo('/nope', 'application/json');
    expect(JSON.parse(json.text)).toMatchObject({ code: 'ROUTE_NOT_FOUND' });
    for (const path of ['/nope', '/docs/nope.md', '/verify/', '/panel/assets/nope.js']) {
      const page = await answerTo(path, browser);
      expect([page.status, page.type], path).toEqual([404, 'text/html; charset=utf-8']);
      expect(page.text).toMatch(/<title>Page not found.*<h1>Page not found<\/h1>.*<a [^>]*href="\/"/s);
      for (const accept of ['*/*', 'application/json', 'text/html;q=0, */*']) {
        expect(await answerTo(path, accept), `${path}: ${accept}`).toEqual(json);
      }
    }
    for (const path of ['/api/v1/nope', '/tool/v1/nope']) expect(await answerTo(path, browser)).toEqual(json);
    expect(await answerTo('/nope', browser, 'POST')).toEqual(json);

    const list = await answerTo('/checkpoints/', browser);
    expect([list.status, list.text]).toEqual([200, expect.stringContaining('<h1>Checkpoints of the ledger</h1>')]);
    // A checkpoint may come between the two answers.
    const alike = async () => {
      const [one, other] = [await answerTo('/checkpoints/', '*/*'), await answerTo('/checkpoints', browser)];
      return JSON.stringify(one) === JSON.stringify(other);
    };
    await expect.poll(alike).toBe(true);
  });

  it('answers what it cannot take with the same shape of error', async () => {
    const cases: [number, string, () => Promise<Answer>][] = [
      [404, 'ROUTE_NOT_FOUND', () => ask(`${app.url}/nowhere`)],
      [404, 'ROUTE_NOT_FOUND', () => get(app, '/tool/v1/nowhere', demo.keys.read)],
      [405, 'METHOD_NOT_ALLOWED', () => ask(`${app.url}/tool/v1/config`, { method: 'POST', body: '{}' })],
      [405, 'METHOD_NOT_ALLOWED', () => ask(`${app.url}/tool/v1/consents`, { method: 'DELETE' })],
      [415, 'UNSUPPORTED_MEDIA_TYPE', () => post('/api/v1/auth/login', 'a=b', { 'content-type': 'text/plain' })],
      [415, 'UNSUPPORTED_MEDIA_TYPE', () => post('/api/v1/auth/login', '{}', { 'content-encoding': 'gzip' })],
      [413, 'PAYLOAD_TOO_LARGE', () => post('/api/v1/auth/login', `"${'x'.repeat(5000)}"`)],
      [400, 'MALFORMED_JSON', () => post('/api/v1/auth/login', '{')],
      [400, 'MALFORMED_JSON', () => post('/api/v1/auth/login', '')],
      [400, 'MALFORMED_JSON', () => post('/api/v1/auth/login', '{"a":1,"a":2}')],
      [400, 'MALFORMED_JSON', () => post('/api/v1/auth/login', Buffer.from([0x22, 0xff, 0x22]))],
      [400, 'MALFORMED_JSON', () => post('/api/v1/auth/login', `${'['.repeat(40)}${']'.repeat(40)}`)],
      [422, 'VALIDATION_ERROR', () => post('/api/v1/auth/login', '[]')],
      [422, 'VALIDATION_ERROR', () => post('/api/v1/auth/login', '{"email":1}')],
      [
        400,
        'BAD_REQUEST',
        () => ask(`${app.url}/tool/v1/documents/%E0%A4%A/active`, { headers: { 'x-api-key': demo.keys.read } }),
      ],
    ];
    for (const [status, code, request] of cases) {
      const answer = await request();
      expect(answer, code).toMatchObject({
        status,
        body: { code, error_code: code, error: { code, message: expect.any(String) } },
      });
      expect(answer.headers.get('x-content-type-options'), code).toBe('nosniff');
    }
    const refused = await ask(`${app.url}/tool/v1/consents/batch`, { method: 'PUT' });
    expect(refused.headers.get('allow')).toBe('POST');
  });

  it('answers what is not HTTP in the same shape', async () => {
    const { hostname, port } = new URL(app.url);
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write('nonsense\r\n\r\n'));
      let received = '';
      socket.on('data', (chunk) => {
        received += chunk.toString();
      });
      socket.on('close', () => resolve(received));
      socket.on('error', reject);
    });
    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(body)).toMatchObject({ code: 'BAD_REQUEST', error: { code: 'BAD_REQUEST' } });
  });

  it('serves /tool/v1 and nothing else on the scanner’s host', async () => {
    const { hostname, port } = new URL(app.url);
    // fetch does not let a caller choose the Host header.
    const statusOf = (path: string): Promise<string | undefined> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => {
          socket.write(
            `GET ${path} HTTP/1.1\r\nHost: Scanner.example:${port}\r\nX-API-Key: ${demo.keys.read}\r\nConnection: close\r\n\r\n`,
          );
        });
        socket.once('data', (chunk) => resolve(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString())?.[1]));
        socket.on('error', reject);
      });
    expect(await statusOf('/tool/v1/ping')).toBe('200');
    for (const path of [
      '/healthz',
      '/checkpoints',
      '/api/v1/auth/me',
      '/api/v1/public/consents/verify?id=x',
      '/tool/v1x',
    ]) {
      expect(await statusOf(path), path).toBe('404');
    }
  });

  it('publishes checkpoints that are consistent with one another', async () => {
    const stamped = async () => CheckpointsResponse.parse((await ask(`${app.url}/checkpoints`)).body).data.checkpoints;
    await expect.poll(async () => (await stamped()).length).toBeGreaterThan(0);
    const count = (await stamped()).length;
    await app.seed();
    await expect.poll(async () => (await stamped()).length).toBeGreaterThan(count);
    const list = await stamped();
    const first = list[0];
    const last = list.at(-1);
    if (first === undefined || last === undefined) throw new Error('there is no checkpoint');
    const noteOf = async (path: string) => {
      const response = await fetch(app.url + path);
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(response.headers.get('cache-control')).toContain('immutable');
      return parseCheckpoint(parseNote(await response.text())?.text ?? '');
    };
    const [from, to] = [await noteOf(first.note), await noteOf(last.note)];
    if (from === null || to === null) throw new Error('a note is not a checkpoint');
    const { data } = ConsistencyResponse.parse(
      (await ask(`${app.url}/checkpoints/${last.size}/consistency/${first.size}`)).body,
    );
    const hashes = data.hashes.map((hash) => fromHex(hash) ?? new Uint8Array());
    expect(verifyConsistency(first.size, last.size, from.root, to.root, hashes)).toEqual({ ok: true });
    const token = await fetch(app.url + (last.tokens[0] ?? ''));
    expect(token.headers.get('content-type')).toBe('application/timestamp-reply');
    expect((await token.arrayBuffer()).byteLength).toBeGreaterThan(100);
    for (const path of [
      '/checkpoints/999999/note',
      '/checkpoints/0/note',
      '/checkpoints/x/tokens/1',
      `/checkpoints/${last.size}/tokens/2`,
      `/checkpoints/${last.size}/tokens/0`,
      `/checkpoints/${last.size}/consistency/${last.size}`,
    ]) {
      expect(await ask(app.url + path), path).toMatchObject({ status: 404, body: { code: 'CHECKPOINT_NOT_FOUND' } });
    }
  });

  it('is healthy and ready', async () => {
    expect(await ask(`${app.url}/healthz`)).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await ask(`${app.url}/readyz`)).toMatchObject({ status: 200, body: { status: 'ready' } });
  });

  it('says which read models stand still: degraded for an api, not ready for a worker', async () => {
    const { installation } = app.service;
    const config = { ...installation.config, http: { ...installation.config.http, port: 0 } };
    const worker = createHealthServer(
      { ...installation, config, metrics: createMetrics({ role: 'worker', version: '1' }) },
      () => [],
    );
    const workerUrl = await worker.listen();
    expect(await ask(`${workerUrl}/readyz`)).toMatchObject({ status: 200, body: { status: 'ready' } });
    await app.superuser.query(`update projections set state = 'stopped' where name = 'consents'`);
    const reasons = [{ code: 'projections_stopped', names: ['consents'] }];
    await expect
      .poll(() => ask(`${app.url}/readyz`))
      .toMatchObject({
        status: 200,
        body: { status: 'degraded', reasons: [...reasons, { code: 'development_authority' }] },
      });
    await expect
      .poll(() => ask(`${workerUrl}/readyz`))
      .toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE', reasons } });
    expect(app.log()).toContain('projections_stopped');
    await app.superuser.query(`update projections set state = 'running' where name = 'consents'`);
    await worker.stop();
  });

  it('logs nothing that a caller sent or that names a person', async () => {
    await get(app, '/tool/v1/consents/status?visitor_id=Ay%C5%9Fe-42', demo.keys.read, {
      'user-agent': 'secret-agent',
    });
    await login({ email: 'someone@shop.example', password: 'hunter2hunter2' });
    await expect.poll(() => app.log()).toContain('/tool/v1/consents/status');
    expect(app.log()).not.toMatch(/Ay%C5|Ayşe|visitor_id|secret-agent|hunter2|someone@|127\.0\.0\.1:\d+"|svc_live_/);
    const Line = z.looseObject({
      route: z.string().nullable(),
      status: z.int(),
      ms: z.number(),
      request_id: z.string(),
    });
    const lines = app
      .log()
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines.filter((line) => Line.safeParse(line).success).length).toBeGreaterThan(10);
  });
});

describe('draining', () => {
  it('answers what is under way when the service stops, and closes idle connections', async () => {
    const app = await startApp('api');
    const demo = await app.seed();
    await get(app, '/tool/v1/ping', demo.keys.read);
    // The look-up of the content waits for this lock, and the request with it.
    const locker = await app.superuser.connect();
    await locker.query('begin; lock table notice_contents in access exclusive mode');
    const slow = get(app, '/tool/v1/documents/cookie-policy/active', demo.keys.read);
    await expect.poll(() => countLocks(app.superuser, 'not granted')).toBe(1);
    const stopped = app.service.stop();
    await locker.query('commit');
    locker.release();
    expect((await slow).status).toBe(200);
    await stopped;
    await expect(get(app, '/tool/v1/ping', demo.keys.read)).rejects.toThrow();
    await app.stop();
  });
});
