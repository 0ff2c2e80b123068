import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { ask, get, type RunningApp, startApp } from '../../api/server/running-app.js';
import { postSigned } from '../../support/signed-requests.js';
import { until } from '../../support/wait.js';
import { type Exposition, parseExposition, sampled } from './exposition.js';

const TOKEN = 'metrics-token-0123456789abcdef0123456789';

async function scrape(url: string): Promise<Exposition> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return parseExposition(await response.text());
}

describe('GET /metrics', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let versionId: string;
  beforeAll(async () => {
    app = await startApp('serve', { METRICS_TOKEN: TOKEN, INVALID_KEY_LIMIT: '2', LOG_LEVEL: 'debug' });
    demo = await app.seed();
    const policy = demo.documents.find(({ kind }) => kind === 'cookie_policy');
    versionId = policy?.versions.find(({ language, state }) => language === 'en' && state === 'active')?.id ?? '';
  });
  afterAll(() => app.stop());

  const consent = (more: object = {}) => ({
    consent_type: 'cookie',
    decision: 'accepted',
    document_version_id: versionId,
    visitor_id: 'visitor-Ayşe-42',
    ...more,
  });
  const post = (path: string, content: unknown) => postSigned(app.url, demo.keys.write, path, content);
  /** The first scrape of which a condition holds. */
  const settled = (condition: (exposition: Exposition) => boolean): Promise<Exposition> =>
    until(async () => {
      const now = await scrape(app.url);
      return condition(now) ? now : null;
    }, 500);

  it('refuses requests without the token', async () => {
    expect(await ask(`${app.url}/metrics`)).toMatchObject({ status: 401, body: { code: 'MISSING_BEARER_TOKEN' } });
    for (const authorization of [`Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, 'Bearer ', `Basic ${TOKEN}`]) {
      const answer = await ask(`${app.url}/metrics`, { headers: { authorization } });
      expect(answer, authorization).toMatchObject({ status: 401, body: { code: 'INVALID_BEARER_TOKEN' } });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  it('counts consents by outcome', async () => {
    const before = await scrape(app.url);
    const grown = (after: Exposition, name: string, labels: Record<string, string>): number =>
      (sampled(after, name, labels) ?? 0) - (sampled(before, name, labels) ?? 0);
    // The series exist from the start, so that the first refusal is an increase.
    for (const code of ['NONCE_REPLAYED', 'QUEUE_OVERLOADED', 'CONSENT_LIMIT_EXCEEDED', 'CONFIG_OUTDATED']) {
      expect(sampled(before, 'consent_ledger_consents_rejected_total', { code }), code).toBe(0);
    }
    const key = 'metrics-idempotency';
    expect((await post('/tool/v1/consents', consent({ idempotency_key: key }))).status).toBe(202);
    expect((await post('/tool/v1/consents', consent({ idempotency_key: key }))).status).toBe(202);
    const batch = { consents: [consent(), consent({ approval_token: 'atk_x.y' }), consent()] };
    expect((await post('/tool/v1/consents/batch', batch)).status).toBe(202);
    expect((await post('/tool/v1/consents', consent({ decision: 'perhaps' }))).status).toBe(422);
    const after = await scrape(app.url);
    expect(grown(after, 'consent_ledger_consents_admitted_total', { outcome: 'accepted' })).toBe(3);
    expect(grown(after, 'consent_ledger_consents_admitted_total', { outcome: 'duplicate' })).toBe(1);
    expect(grown(after, 'consent_ledger_consents_rejected_total', { code: 'APPROVAL_TOKEN_INVALID' })).toBe(1);
    expect(grown(after, 'consent_ledger_consents_rejected_total', { code: 'VALIDATION_ERROR' })).toBe(1);
    expect(grown(after, 'consent_ledger_admission_group_consents_sum', {})).toBe(5);
    expect(grown(after, 'consent_ledger_admission_group_requests_count', {})).toBeGreaterThan(0);
    expect(grown(after, 'consent_ledger_admission_group_duration_seconds_count', {})).toBeGreaterThan(0);
  });

  it('counts requests by route pattern, never by path, and errors by code', async () => {
    const before = await scrape(app.url);
    await get(app, '/tool/v1/consents/status?visitor_id=visitor-Ayşe-42', demo.keys.read);
    await get(app, `/tool/v1/documents/cookie-policy/active`, demo.keys.read);
    await get(app, '/somebody/at/example', demo.keys.read);
    for (const key of ['a', 'b', 'c']) await get(app, '/tool/v1/ping', `svc_live_${key}`);
    const login = { method: 'POST', headers: { 'content-type': 'application/json' } };
    await ask(`${app.url}/api/v1/auth/login`, {
      ...login,
      body: JSON.stringify({ email: 'someone@shop.example', password: 'hunter2hunter2' }),
    });
    const after = await scrape(app.url);
    const grown = (name: string, labels: Record<string, string>): number =>
      (sampled(after, name, labels) ?? 0) - (sampled(before, name, labels) ?? 0);
    const requests = 'consent_ledger_http_request_duration_seconds_count';
    expect(grown(requests, { method: 'GET', route: '/tool/v1/consents/status', status: '2xx' })).toBe(1);
    expect(grown(requests, { method: 'GET', route: '/tool/v1/documents/:slug/active', status: '2xx' })).toBe(1);
    expect(grown(requests, { method: 'GET', route: 'none', status: '4xx' })).toBe(1);
    expect(grown('consent_ledger_http_errors_total', { code: 'ROUTE_NOT_FOUND' })).toBe(1);
    expect(grown('consent_ledger_http_errors_total', { code: 'INVALID_API_KEY' })).toBe(2);
    expect(grown('consent_ledger_http_errors_total', { code: 'TOO_MANY_INVALID_API_KEYS' })).toBe(1);
    expect(grown('consent_ledger_http_errors_total', { code: 'INVALID_CREDENTIALS' })).toBe(1);
  });

  it('shows where the pipeline stands', async () => {
    const quarantined = `insert into quarantined_sites (site_id, reason) values ('${demo.site.id}', 'test')`;
    const settledOnce = await settled(
      (now) =>
        sampled(now, 'consent_ledger_unsealed_events') === 0 &&
        sampled(now, 'consent_ledger_outbox_waiting_events') === 0 &&
        sampled(now, 'consent_ledger_unstamped_age_seconds') === 0 &&
        (sampled(now, 'consent_ledger_ledger_size_batches') ?? 0) > 0 &&
        Math.abs(sampled(now, 'consent_ledger_clock_difference_seconds') ?? 99) < 5 &&
        ['consents', 'notices', 'daily_counts'].every(
          (projection) => sampled(now, 'consent_ledger_projection_lag_seconds', { projection }) === 0,
        ),
    );
    const now = Date.now() / 1000;
    for (const time of ['consent_ledger_last_batch_time_seconds', 'consent_ledger_last_stamp_time_seconds']) {
      expect(sampled(settledOnce, time)).toBeGreaterThan(now - 600);
      expect(sampled(settledOnce, time)).toBeLessThan(now + 1);
    }
    for (const [name, value] of [
      ['consent_ledger_database_is_readable', 1],
      ['consent_ledger_event_log_is_readable', 1],
      ['consent_ledger_quarantined_sites', 0],
      ['consent_ledger_erasure_requests_open', 0],
      ['consent_ledger_outbox_oldest_waiting_seconds', 0],
      ['consent_ledger_outbox_limit_events', 500_000],
    ] as const) {
      expect(sampled(settledOnce, name), name).toBe(value);
    }
    expect(sampled(settledOnce, 'consent_ledger_relay_appended_events_total')).toBeGreaterThan(0);
    expect(sampled(settledOnce, 'consent_ledger_sealed_events_total')).toBeGreaterThan(0);
    expect(sampled(settledOnce, 'consent_ledger_stamps_total')).toBeGreaterThan(0);
    expect(sampled(settledOnce, 'consent_ledger_timestamp_requests_total', { outcome: 'obtained' })).toBeGreaterThan(0);
    expect(sampled(settledOnce, 'consent_ledger_part_is_leader', { part: 'relay' })).toBe(1);
    for (const projection of ['consents', 'notices', 'daily_counts']) {
      expect(sampled(settledOnce, 'consent_ledger_projection_state', { projection, state: 'running' })).toBe(1);
      expect(sampled(settledOnce, 'consent_ledger_projected_events_total', { projection })).toBeGreaterThan(0);
    }

    // An event of a quarantined site counts as waiting, because it uses up the outbox's limit, but
    // not as a delay of the relay.
    await app.superuser.query(quarantined);
    await app.superuser.query(
      `update projections set state = 'stopped', problem = '{"reason":"test"}' where name = 'daily_counts'`,
    );
    expect((await post('/tool/v1/consents', consent())).status).toBe(202);
    const troubled = await settled((after) => sampled(after, 'consent_ledger_outbox_waiting_events') === 1);
    expect(sampled(troubled, 'consent_ledger_quarantined_sites')).toBe(1);
    expect(sampled(troubled, 'consent_ledger_outbox_oldest_waiting_seconds')).toBe(0);
    const stopped = { projection: 'daily_counts', state: 'stopped' };
    expect(sampled(troubled, 'consent_ledger_projection_state', stopped)).toBe(1);

    await app.superuser.query(`delete from quarantined_sites`);
    await settled(
      (after) =>
        (sampled(after, 'consent_ledger_projection_lag_seconds', { projection: 'daily_counts' }) ?? 0) > 0 &&
        sampled(after, 'consent_ledger_projection_lag_seconds', { projection: 'consents' }) === 0,
    );
    await app.superuser.query(`update projections set state = 'needs_rebuild', problem = null`);
  });

  it('contains no value of a client, a tenant or a site', async () => {
    const response = await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    const text = await response.text();
    expect(text).not.toMatch(/Ayşe|visitor-|someone|shop\.example|svc_live|somebody|127\.0\.0\.1"/);
    for (const id of [demo.site.id, demo.tenant_id]) expect(text).not.toContain(id);
    const labels = new Set(parseExposition(text).samples.flatMap((sample) => Object.keys(sample.labels)));
    expect([...labels].sort()).toEqual([
      'authority',
      'cause',
      'code',
      'effect',
      'le',
      'method',
      'outcome',
      'part',
      'percentile',
      'pool',
      'projection',
      'role',
      'route',
      'state',
      'status',
      'table',
      'version',
      'where',
    ]);
  });

  it('continues without the database, and reports its failure', async () => {
    const locker = await app.superuser.connect();
    await locker.query('begin; lock table quarantined_sites in access exclusive mode');
    const blind = await settled((now) => sampled(now, 'consent_ledger_database_is_readable') === 0);
    expect(sampled(blind, 'consent_ledger_outbox_waiting_events')).toBeNull();
    expect(sampled(blind, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
    await locker.query('rollback');
    locker.release();
    await settled((now) => sampled(now, 'consent_ledger_database_is_readable') === 1);
  });
});

it('a worker serves metrics on its health server', async () => {
  const worker = await startApp('worker', { METRICS_TOKEN: TOKEN });
  expect(sampled(await scrape(worker.url), 'consent_ledger_info', { role: 'worker' })).toBe(1);
  await expect.poll(async () => sampled(await scrape(worker.url), 'consent_ledger_database_is_readable')).toBe(1);
  await worker.stop();
});

it('answers 404 for /metrics without a configured token', async () => {
  const app = await startApp('api');
  expect(await ask(`${app.url}/metrics`)).toMatchObject({ status: 404, body: { code: 'ROUTE_NOT_FOUND' } });
  await app.stop();
});
