import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { FaultyProxy } from '../../support/faulty-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/wait.js';
import { type Answer, ask, get, type RunningApp, startApp } from './running-app.js';

describe('the API, while its database does not answer', () => {
  let database: TestDatabase;
  let proxy: FaultyProxy;
  let app: RunningApp;
  let demo: SeededDemo;

  beforeAll(async () => {
    database = await createTestDatabase();
    const url = new URL(database.url);
    proxy = await FaultyProxy.start({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    app = await startApp('api', { DATABASE_URL: url.href });
    demo = await app.seed();
  });
  afterEach(() => proxy.restore());
  afterAll(async () => {
    await app?.stop();
    await proxy?.close();
    await database?.drop();
  });

  const unknownRecord = '/tool/v1/consents/verify/ct_0123456789abcdef0123456789abcdef';
  const requests: readonly (readonly [name: string, send: () => Promise<Answer>])[] = [
    ['a keyed verification', () => get(app, unknownRecord, demo.keys.read)],
    ['a status', () => get(app, '/tool/v1/consents/status?visitor_id=visitor-1', demo.keys.read)],
    [
      'a public verification',
      () => ask(`${app.url}/api/v1/public/consents/verify?token=ct_0123456789abcdef0123456789abcdef`),
    ],
    [
      'a sign-in',
      () =>
        ask(`${app.url}/api/v1/auth/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(demo.panel_user),
        }),
    ],
  ];

  it.each(requests)('answers %s with 503 and the time to wait, and recovers', async (_, send) => {
    const usual = (await send()).status;
    expect(usual).toBeLessThan(500);
    proxy.refuseConnections();
    const { status, headers, body } = await send();
    expect({ status, body }).toMatchObject({ status: 503 });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    proxy.restore();
    await expect.poll(async () => (await send()).status).toBe(usual);
  });

  it('answers with 503 when the connection is cut during the statement', async () => {
    const direct = new pg.Client({ connectionString: database.url });
    await direct.connect();
    await direct.query('delete from rate_limit_windows');
    proxy.swallowAnswers();
    const pending = ask(`${app.url}/api/v1/public/consents/verify?token=ct_0123456789abcdef0123456789abcdef`);
    // Until the database has executed the first statement of the request, whose result does not come.
    await until(async () => (await direct.query('select from rate_limit_windows')).rowCount === 1);
    await direct.end();
    proxy.cutConnections();
    proxy.restore();
    expect(await pending).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
  });
});
