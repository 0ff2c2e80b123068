import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { exportEvidence } from '../../../src/evidence/package/index.js';
import { openTracing } from '../../../src/platform/telemetry/open-tracing.js';
import { NO_TRACING } from '../../../src/platform/telemetry/tracing.js';
import { get, type RunningApp, startApp } from '../../api/server/running-app.js';
import { TestInstallation } from '../../support/running-service.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { until } from '../../support/wait.js';
import { Collector } from './collector.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const PATH = '/tool/v1/consents';
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

describe('with a collector', () => {
  let collector: Collector;
  let app: RunningApp;
  let demo: SeededDemo;
  let isStopped = false;
  beforeAll(async () => {
    collector = await Collector.start();
    app = await startApp('serve', {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=a%20secret',
      OTEL_SERVICE_NAME: 'ledger-under-test',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    demo = await app.seed();
  });
  const stop = async (): Promise<void> => {
    if (!isStopped) await app.stop();
    isStopped = true;
  };
  afterAll(async () => {
    await stop();
    await collector.stop();
  });

  it('creates spans without personal data for requests and the work that they cause', async () => {
    const policy = demo.documents.find(({ kind }) => kind === 'cookie_policy');
    const version = policy?.versions.find(({ language, state }) => language === 'en' && state === 'active');
    const body = JSON.stringify({
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: version?.id,
      visitor_id: 'visitor-Ayşe-42',
    });
    const accepted = await fetch(app.url + PATH, {
      method: 'POST',
      body,
      headers: {
        ...signedHeaders(demo.keys.write, PATH, body),
        'user-agent': 'secret-agent/7',
        traceparent: `00-${TRACE}-${CALLER}-01`,
        tracestate: 'vendor=someone@shop.example',
        baggage: 'user=someone@shop.example',
      },
    });
    expect(accepted.status).toBe(202);
    await get(app, '/tool/v1/consents/status?visitor_id=visitor-Ayşe-42', demo.keys.read);
    await get(app, '/somebody/at/example', demo.keys.read);
    await expect.poll(async () => (await app.superuser.query('select from checkpoints')).rowCount).toBeGreaterThan(0);
    await expect.poll(async () => (await app.superuser.query('select from read_model.consents')).rowCount).toBe(1);
    const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-traced-'));
    const { workerPool: pool, eventLog, keyring, config, tracing } = app.service.installation;
    await exportEvidence(
      { db: pool, eventLog, keyring, origin: config.ledgerOrigin, tracing },
      { siteId: demo.site.id, filter: {}, disclose: 'none', output: join(folder, 'package.zip'), exportedBy: 'test' },
    );
    await rm(folder, { recursive: true });
    // Stopping the service exports the remaining spans.
    await stop();
    for (const name of [
      `POST ${PATH}`,
      'GET',
      'admit group',
      'relay append',
      'seal batch',
      'project',
      'export evidence',
    ])
      await until(() => collector.named(name).length > 0);

    const [request] = collector.named(`POST ${PATH}`);
    expect(request).toMatchObject({
      traceId: TRACE,
      parentSpanId: CALLER,
      kind: SERVER,
      attributes: { 'http.request.method': 'POST', 'http.route': PATH, 'http.response.status_code': 202 },
      resource: {
        'service.name': 'ledger-under-test',
        'consent_ledger.role': 'serve',
        'deployment.environment.name': 'test',
      },
    });
    const groups = collector.named('admit group');
    expect(groups.flatMap(({ links }) => links)).toContainEqual({ traceId: TRACE, spanId: request?.spanId });
    for (const group of groups) expect(group.traceId).not.toBe(TRACE);
    expect(groups.some(({ attributes }) => attributes['consent_ledger.consents'] === 1)).toBe(true);

    const stamps = collector.named('stamp checkpoint').map(({ spanId }) => spanId);
    const [asked] = collector.named('time stamp request');
    expect(stamps).toContain(asked?.parentSpanId);
    expect(asked?.kind).toBe(CLIENT);
    expect(asked?.attributes['server.address']).toMatch(/^127\.0\.0\.1:\d+$/);
    for (const span of collector.spans) {
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
    }

    expect(collector.headers[0]).toMatchObject({ 'x-collector-key': 'a secret', 'content-type': 'application/json' });
    expect(collector.text).not.toMatch(/Ayşe|visitor|someone|secret-agent|somebody|svc_live|127\.0\.0\.1"/);
    expect(collector.text).not.toContain(demo.site.id);
    expect(collector.named('GET')[0]?.attributes).toMatchObject({
      'http.response.status_code': 404,
      'error.type': 'ROUTE_NOT_FOUND',
    });
  });
});

describe('tracing', () => {
  const about = { role: 'test', version: '0', logger: { warn: () => undefined } };
  const config = {
    headers: {},
    timeoutMs: 60_000,
    serviceName: 'test',
    resourceAttributes: {},
    sampler: 'always_on',
    samplerRatio: 1,
  } as const;

  it('is disabled without a collector', async () => {
    expect(await openTracing(undefined, about)).toBe(NO_TRACING);
    expect(await NO_TRACING.span('work', {}, async () => 7)).toBe(7);
  });

  it('records a failure by its name, and rethrows it', async () => {
    const collector = await Collector.start();
    const tracing = await openTracing({ ...config, url: `${collector.url}/v1/traces` }, about);
    const failing = tracing.span('work', {}, async () => {
      throw new RangeError('visitor-Ayşe-42');
    });
    await expect(failing).rejects.toThrow('visitor-Ayşe-42');
    await tracing.span('outer', {}, () => tracing.span('inner', {}, async (span) => span.add({ late: 1 })));
    await tracing.stop();
    // The stop waits for a few seconds only.
    await until(() => collector.spans.length === 3);
    expect(collector.named('work')[0]).toMatchObject({
      status: { code: ERROR },
      attributes: { 'error.type': 'RangeError' },
    });
    expect(collector.named('inner')[0]).toMatchObject({ parentSpanId: collector.named('outer')[0]?.spanId });
    expect(collector.named('inner')[0]?.attributes).toEqual({ late: 1 });
    expect(collector.text).not.toContain('Ayşe');
    await collector.stop();
  });

  it.each([
    ['always_off', 0],
    ['traceidratio', 0],
    ['parentbased_traceidratio', 0],
    ['parentbased_always_off', 0],
    ['parentbased_always_on', 1],
  ] as const)('samples as %s says', async (sampler, count) => {
    const collector = await Collector.start();
    const tracing = await openTracing(
      { ...config, url: `${collector.url}/v1/traces`, sampler, samplerRatio: 0 },
      about,
    );
    await tracing.span('work', {}, async () => undefined);
    await tracing.stop();
    await until(() => collector.spans.length >= count);
    expect(collector.spans).toHaveLength(count);
    await collector.stop();
  });

  it('reports lost spans without blocking work when the collector is unreachable', async () => {
    const said: unknown[] = [];
    const logger = { warn: (...words: unknown[]) => said.push(words) };
    const url = 'http://127.0.0.1:9/v1/traces';
    const tracing = await openTracing({ ...config, url }, { ...about, logger });
    await tracing.span('work', {}, async () => undefined);
    await tracing.stop();
    await expect.poll(() => JSON.stringify(said)).toContain('traces did not reach the collector');
  });

  it('does not delay the shutdown when the collector never responds', async () => {
    const collector = await Collector.start(false);
    const installation = await TestInstallation.make({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const service = await installation.start();
    await fetch(`${service.url}/healthz`);
    expect(await service.stop()).toBe(0);
    await installation.remove();
    await until(() => collector.headers.length > 0);
    await collector.stop();
  });
});
