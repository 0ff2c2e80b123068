import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PROJECTIONS } from '../../../projections/index.js';
import { consentsStream, LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { LogBehind } from '../../../src/pipeline/event-log/errors.js';
import type { EventLog } from '../../../src/pipeline/event-log/port.js';
import { listQuarantinedSites, quarantineSite } from '../../../src/pipeline/event-log/quarantined-sites.js';
import { readLedgerState } from '../../../src/pipeline/ledger/ledger-state.js';
import { createProjector, knownProjection, projectionStatus } from '../../../src/pipeline/projector/index.js';
import { assertLogWhole } from '../../../src/pipeline/relay/log-check.js';
import { recoverLog } from '../../../src/pipeline/relay/recover-log.js';
import { createRelay, deleteStampedEvents } from '../../../src/pipeline/relay/relay.js';
import { createSealer } from '../../../src/pipeline/sealer/sealer.js';
import type { BackgroundPart } from '../../../src/platform/background/part.js';
import { until } from '../../support/wait.js';
import { inStream } from '../event-log/postgres-fixture.js';
import {
  admit,
  count,
  idsInLog,
  newConsent,
  newSigner,
  type Pipeline,
  silent,
  startPipeline,
  testKeyring,
  waitAgain,
  whileRunning,
} from './pipeline.js';

let pipeline: Pipeline;
/** A log outside the database: only such a one can be restored from another backup than the database. */
let log: EventLog;
const signer = newSigner();
const never = new AbortController().signal;
beforeEach(async () => {
  pipeline = await startPipeline();
  log = await pipeline.newLog();
});
afterEach(() => pipeline.close());

const limits = { maxLeaves: 10, maxAgeMs: 50 };

function parts(eventLog: EventLog): BackgroundPart[] {
  const { worker: pool, projections: projectorPool } = pipeline;
  return [
    createRelay({ keyring: testKeyring, db: pool, eventLog, logger: silent, retentionMs: 3_600_000, pollMs: 20 }),
    createSealer({ keyring: testKeyring, db: pool, eventLog, logger: silent, signer, limits, pollMs: 20 }),
    createProjector({ db: projectorPool, eventLog, logger: silent, projections: PROJECTIONS, stoppedPollMs: 50 }),
  ];
}

async function newSite(): Promise<string> {
  const [tenant, site] = [randomUUID(), randomUUID()];
  await pipeline.owner.query('insert into tenants (id, name) values ($1, $2)', [tenant, 'Example']);
  await pipeline.owner.query('insert into sites (id, tenant_id, name, domain) values ($1, $2, $3, $4)', [
    site,
    tenant,
    'Shop',
    'shop.example',
  ]);
  return site;
}

/** Admits consents and waits until they are sealed and projected. */
async function consent(site: string, n: number, eventLog: EventLog): Promise<string[]> {
  const events = Array.from({ length: n }, () => newConsent(site));
  await admit(pipeline.owner, site, events);
  await whileRunning(parts(eventLog), () => until(() => isSettled(eventLog)));
  return events.map((e) => e.id);
}

async function isSettled(eventLog: EventLog): Promise<boolean> {
  const known = PROJECTIONS.map((projection) => knownProjection(projection, 'service'));
  const all = await projectionStatus(pipeline.projections, eventLog, known);
  const waiting = await count(pipeline.owner, 'event_log.waiting');
  const unsealed = await count(pipeline.owner, 'event_log.unsealed_events');
  return waiting === 0 && unsealed === 0 && all.every((one) => one.isUpToDate === true && one.state === 'running');
}

/** Returns a log as restored from an older backup: the first events of each stream. */
async function restore(from: EventLog, ends: ReadonlyMap<string, number>): Promise<EventLog> {
  const older = await pipeline.newLog();
  for (const [stream, end] of ends) {
    const events = await from.readStream(stream, 0, end + 1);
    if (events.length > 0) await older.append(stream, -1, events);
  }
  return older;
}

test('refuses a log restored from an older backup, and refills it byte for byte', async () => {
  const [a, b] = [await newSite(), await newSite()];
  const ids = [...(await consent(a, 30, log))];
  await consent(b, 5, log);
  const older = await restore(
    log,
    new Map([
      [consentsStream(a), 9],
      [LEDGER_STREAM, 1],
    ]),
  );
  await expect(assertLogWhole(pipeline.worker, older, { logger: silent })).rejects.toThrow(LogBehind);
  await expect(
    createSealer({ keyring: testKeyring, db: pipeline.worker, eventLog: older, logger: silent, signer, limits }).run(
      never,
    ),
  ).rejects.toThrow(LogBehind);

  const recovery = await recoverLog(pipeline.worker, older, testKeyring);
  expect(recovery.refilledStreams).toBe(3);
  for (const stream of [consentsStream(a), consentsStream(b), LEDGER_STREAM]) {
    expect(await older.readStream(stream, 0, 100)).toEqual(await log.readStream(stream, 0, 100));
  }
  expect(await recoverLog(pipeline.worker, older, testKeyring)).toEqual({
    refilledStreams: 0,
    refilledEvents: 0,
    adoptedEvents: 0,
    missing: [],
    foreign: [],
    lostKeys: [],
  });

  ids.push(...(await consent(a, 4, older)));
  expect(await idsInLog(older, consentsStream(a))).toEqual(ids);
  expect(await count(pipeline.owner, 'leaves')).toBe(39);
  expect(await count(pipeline.owner, 'read_model.consents')).toBe(39);
});

test('gives back what is still stored, and says what is missing', async () => {
  const [whole, site] = [await newSite(), await newSite()];
  await consent(whole, 3, log);
  await consent(site, 5, log);
  await pipeline.owner.query(`delete from event_log.events where ${inStream(consentsStream(site))} and revision >= 2`);
  await quarantineSite(pipeline.worker, site, 'lost events');
  const empty = await pipeline.newLog();
  const recovery = await recoverLog(pipeline.worker, empty, testKeyring);
  expect(recovery.missing).toEqual([{ stream: consentsStream(site), firstRevision: 2, lastRevision: 4 }]);
  expect(await idsInLog(empty, consentsStream(whole))).toHaveLength(3);
  expect(await idsInLog(empty, consentsStream(site))).toHaveLength(2);
  expect(await listQuarantinedSites(pipeline.worker)).toMatchObject([{ siteId: site }]);
});

test('takes over the events of the log after a restore of the database', async () => {
  const site = await newSite();
  const ids = await consent(site, 12, log);
  // At the time of the backup, seven were in the log, and the last two were not admitted yet.
  await pipeline.owner.query(`
    delete from event_log.events where revision >= 10;
    update event_log.streams set next_revision = 10;
    truncate batches, sealed_events, ledger_nodes, sealed_streams, ledger_events, ledger_keys cascade;
    update sealer_state set ledger_revision = -1, log_position = null`);
  await waitAgain(pipeline.owner, consentsStream(site), 7);
  const later = newConsent(site);
  await admit(pipeline.owner, site, [later]);
  await whileRunning(parts(log), () => until(async () => (await listQuarantinedSites(pipeline.worker)).length === 1));
  const recovery = await recoverLog(pipeline.worker, log, testKeyring);
  expect(recovery).toEqual({
    refilledStreams: 0,
    refilledEvents: 0,
    adoptedEvents: 5,
    missing: [],
    foreign: [],
    // The consents of this test have none.
    lostKeys: [{ siteId: site, records: 5, isSiteKnown: true }],
  });
  expect(await listQuarantinedSites(pipeline.worker)).toEqual([]);
  await whileRunning(parts(log), () => until(() => isSettled(log)));
  expect(await idsInLog(log, consentsStream(site))).toEqual([...ids, later.id]);
  expect(await count(pipeline.owner, 'leaves')).toBe(13);
  expect(await count(pipeline.owner, 'read_model.consents')).toBe(13);
});

test('gives the tables the whole ledger, also if another program wrote to the stream of a site', async () => {
  const [site, other] = [await newSite(), await newSite()];
  await consent(site, 2, log);
  const sealed = await readLedgerState(pipeline.owner);
  await pipeline.owner.query(`
    truncate batches, sealed_events, ledger_nodes, sealed_streams, ledger_events, ledger_keys cascade;
    update sealer_state set ledger_revision = -1, log_position = null`);
  await log.append(consentsStream(other), -1, [{ ...newConsent(other), type: 'OrderPlaced', data: new Uint8Array(0) }]);
  const recovery = await recoverLog(pipeline.worker, log, testKeyring);
  expect(recovery).toMatchObject({ missing: [], foreign: [{ stream: consentsStream(other), revision: 0 }] });
  // Without them, the ledger would not continue its head, and no process would start.
  expect(await readLedgerState(pipeline.owner)).toMatchObject({ size: sealed.size, revision: sealed.revision });
});

test('deletes relayed events only after their batch is old and stamped', async () => {
  const site = await newSite();
  await consent(site, 10, log);
  await consent(site, 10, log);
  const old = `update batches set sealed_at = now() - interval '2 days'`;
  await pipeline.owner.query(old);
  const day = 86_400_000;
  expect(await deleteStampedEvents(pipeline.worker, day, never)).toBe(0);
  const { size } = await readLedgerState(pipeline.worker);
  const stamp = (at: number) =>
    pipeline.owner.query(
      `insert into checkpoints (size, note, tokens, gen_time, authorities, certificates, crls, ocsp)
       values ($1, '', 1, now(), '{}', '{}', '{}', '{}')`,
      [at],
    );
  await stamp(size - 1);
  const inLastBatch = await count(pipeline.owner, 'leaves where batch = $1', [size - 1]);
  expect(await deleteStampedEvents(pipeline.worker, 3 * day, never)).toBe(0);
  expect(await deleteStampedEvents(pipeline.worker, day, never)).toBe(20 - inLastBatch);
  await stamp(size);
  await admit(pipeline.owner, site, [newConsent(site)]);
  await pipeline.owner.query(old);
  expect(await deleteStampedEvents(pipeline.worker, day, never)).toBe(inLastBatch);
  expect(await count(pipeline.owner, 'event_log.events')).toBe(1);
});
