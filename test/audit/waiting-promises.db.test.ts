import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { readPipelineState } from '../../src/app/metrics/state-query.js';
import { developmentTsaFolder } from '../../src/app/timestamping.js';
import { createRelay } from '../../src/pipeline/relay/relay.js';
import { startDevelopmentTsa } from '../../src/timestamping/development-tsa/start.js';
import { RecordingTenant } from '../api/panel/recording-tenant.js';
import { ask, type RunningApp, startApp } from '../api/server/running-app.js';
import { commandLine } from '../cli/command-line.js';
import { count, silent, whileRunning } from '../pipeline/relay/pipeline.js';
import { figures, secondsSince } from '../support/figures.js';
import { until } from '../support/wait.js';

const Report = z.looseObject({ findings: z.array(z.looseObject({ kind: z.string(), table: z.string() })) });

let app: RunningApp;
let shop: RecordingTenant;
beforeAll(async () => {
  // Nothing seals: there is no worker.
  app = await startApp('api', { SEAL_WITHIN_SECONDS: '1', BATCH_MAX_AGE_MS: '500' });
  shop = await RecordingTenant.of(app);
  // The audit reads the roots of the time stamp authority, which a worker would have made.
  const authority = await startDevelopmentTsa({ folder: developmentTsaFolder(app.service.installation.config) });
  await authority.stop();
});
afterAll(() => app.stop());

const promises = async () => (await readPipelineState(app.superuser, 1_000)).state;

async function broken(): Promise<number> {
  const { stdout } = await commandLine(app).run(['audit', '--json']);
  return Report.parse(JSON.parse(stdout)).findings.filter(({ kind }) => kind === 'promise-broken').length;
}

const Ready = z.object({ status: z.string(), reasons: z.array(z.object({ code: z.string() })) });

async function readiness(): Promise<{ readonly status: string; readonly codes: readonly string[] }> {
  const { body } = await ask(`${app.url}/readyz`);
  const { status, reasons } = Ready.parse(body);
  return { status, codes: reasons.map(({ code }) => code) };
}

test('consents that wait beyond their promise are counted and audited, wherever they wait', async () => {
  // The tenant's documents wait, too, and nothing was promised of them.
  expect(await count(app.superuser, 'event_log.events where sealed_before is null')).toBeGreaterThan(0);
  expect(await promises()).toMatchObject({ promiseSecondsLeft: null, overduePromises: 0 });
  expect(await broken()).toBe(0);
  for (const visitor of ['ann', 'ben', 'cem'])
    await shop.backend.record({ idempotency_key: randomUUID(), visitor_id: visitor });
  const recordedAt = performance.now();
  const left = (await promises()).promiseSecondsLeft;
  expect(left).toBeLessThanOrEqual(1);
  await until(async () => (await promises()).overduePromises === 3);
  const counted = secondsSince(recordedAt);
  expect((await promises()).promiseSecondsLeft).toBeLessThan(0);
  expect(await broken()).toBe(3);
  figures('promises of one second', { consents: 3, counted, audited: secondsSince(recordedAt) });

  // An overdue promise is not broken as long as the record may still be sealed: only the service knows it.
  await expect.poll(readiness).toEqual({ status: 'degraded', codes: ['promises_overdue', 'development_authority'] });
  const { workerPool: db, eventLog, keyring } = app.service.installation;
  await whileRunning([createRelay({ db, eventLog, keyring, logger: silent, retentionMs: 3_600_000 })], () =>
    until(async () => (await count(app.superuser, 'event_log.waiting')) === 0),
  );
  expect(await promises()).toMatchObject({ overduePromises: 3 });
  expect(await broken()).toBe(3);
});

test('every broken promise is listed, also those beyond one page', async () => {
  const before = await broken();
  await app.superuser.query(
    `select event_log.put(array_agg(s.site_id), array_agg(s.name), array_agg(gen_random_uuid()),
            array_agg('ConsentRecorded.v1'::text), array_agg('{}'::bytea), array_agg(now() - interval '1 hour'))
       from (select site_id, name from event_log.streams where name like 'consents-%' limit 1) s, generate_series(1, 600)`,
  );
  // Their bodies are not genuine. Events that seem to wait would each be another finding.
  await app.superuser.query('delete from event_log.waiting');
  expect(await broken()).toBe(before + 600);
});
