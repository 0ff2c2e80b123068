import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { consentsStream, noticesStream } from '../../../schemas/events/streams.js';
import { AppendRefused, EventLogUnavailable, LogBehind } from '../../../src/pipeline/event-log/errors.js';
import type { EventLog } from '../../../src/pipeline/event-log/port.js';
import { listQuarantinedSites, releaseSite } from '../../../src/pipeline/relay/quarantined-sites.js';
import { createRelay, type Relay } from '../../../src/pipeline/relay/relay.js';
import { faultyLog } from './faulty-log.js';
import {
  admit,
  count,
  event,
  idsInLog,
  newConsent,
  type Pipeline,
  silent,
  startPipeline,
  testKeyring,
  until,
  whileRunning,
} from './pipeline.js';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline();
});
afterAll(() => pipeline.close());

function relay(eventLog: EventLog = pipeline.eventLog, db: pg.Pool = pipeline.worker, gatherMs = 20): Relay {
  return createRelay({
    gatherMs,
    keyring: testKeyring,
    db,
    eventLog,
    logger: silent,
    retentionMs: 3_600_000,
    pollMs: 20,
    maxRows: 7,
  });
}

const PlanRows = z.tuple([
  z.object({
    'QUERY PLAN': z.tuple([
      z.object({
        Plan: z.object({
          'Actual Rows': z.number(),
          'Shared Hit Blocks': z.number(),
          'Shared Read Blocks': z.number(),
        }),
      }),
    ]),
  }),
]);

const consents = (site: string, n: number) => Array.from({ length: n }, () => newConsent(site));
const waiting = (site: string) => count(pipeline.owner, 'outbox where site_id = $1 and revision is null', [site]);

test('moves the events of each site in order across its streams, and records their revisions', async () => {
  const [a, b] = [randomUUID(), randomUUID()];
  const first = consents(a, 20);
  const noticeId = randomUUID();
  const notice = event(noticeId, 'SiteConfigPublished.v1', {
    record: JSON.stringify({ event_id: noticeId, site_id: a }),
  });
  const second = consents(a, 20);
  await admit(pipeline.owner, a, first);
  await admit(pipeline.owner, a, [notice], noticesStream(a));
  await admit(pipeline.owner, a, second);
  const other = consents(b, 5);
  await admit(pipeline.owner, b, other);
  await whileRunning([relay()], () => until(async () => (await waiting(a)) + (await waiting(b)) === 0));
  expect(await idsInLog(pipeline.eventLog, consentsStream(a))).toEqual([...first, ...second].map((e) => e.id));
  expect(await idsInLog(pipeline.eventLog, noticesStream(a))).toEqual([notice.id]);
  expect(await idsInLog(pipeline.eventLog, consentsStream(b))).toEqual(other.map((e) => e.id));
  const { rows } = await pipeline.owner.query('select event_id from outbox where stream = $1 order by revision', [
    consentsStream(a),
  ]);
  expect(rows.map((row: { event_id: string }) => row.event_id)).toEqual([...first, ...second].map((e) => e.id));
});

test('lets rows gather only after a page that took all of them', async () => {
  const sites = [randomUUID(), randomUUID(), randomUUID()];
  const [busy = ''] = sites;
  for (const site of sites) await admit(pipeline.owner, site, consents(site, site === busy ? 50 : 1));
  const late = randomUUID();
  const one = relay(pipeline.eventLog, pipeline.worker, 3_600_000);
  await whileRunning([one], async () => {
    // Each page has at most three rows of the busy site.
    await until(async () => (await waiting(busy)) === 0);
    await admit(pipeline.owner, late, consents(late, 1));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await waiting(late)).toBe(1);
    one.wake();
    await until(async () => (await waiting(late)) === 0);
  });
  for (const site of sites) expect(await waiting(site)).toBe(0);
});

test('reads no more of a backlog than the rows of a page', async () => {
  const site = randomUUID();
  const db = await pipeline.owner.connect();
  try {
    // No statistics know of these rows, as under the first load of an installation.
    await db.query('begin');
    await db.query(
      `insert into outbox (site_id, stream, event_id, type, body)
       select $1, $2, gen_random_uuid(), 'ConsentRecorded.v1', sha256(n::text::bytea) || decode(repeat('00', 2000), 'hex')
         from generate_series(1, 5000) as g (n)`,
      [site, consentsStream(site)],
    );
    const read = async () =>
      PlanRows.parse(
        (
          await db.query(
            `explain (analyze, buffers, format json) select * from first_waiting(array[$1::uuid], 10)`.replace(
              '$1',
              `'${site}'`,
            ),
          )
        ).rows,
      )[0]['QUERY PLAN'][0].Plan;
    // The first call plans, which reads the catalogue.
    await read();
    const plan = await read();
    expect(plan['Actual Rows']).toBe(10);
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(50);
  } finally {
    await db.query('rollback');
    db.release();
  }
});

test('relays a row that was committed after rows with higher numbers', async () => {
  const site = randomUUID();
  const [late, early] = [newConsent(site), newConsent(site)];
  const slow = new pg.Client({ connectionString: pipeline.url });
  await slow.connect();
  try {
    await slow.query('begin');
    await admit(slow, site, [late]);
    await admit(pipeline.owner, site, [early]);
    await whileRunning([relay()], () => until(async () => (await waiting(site)) === 0));
    // The relay stopped between append and record, as in a crash.
    await pipeline.owner.query('update outbox set revision = null where event_id = $1', [early.id]);
    await pipeline.owner.query('delete from relayed_streams where stream = $1', [consentsStream(site)]);
    await slow.query('commit');
  } finally {
    await slow.end();
  }
  await whileRunning([relay()], () => until(async () => (await waiting(site)) === 0));
  expect(await idsInLog(pipeline.eventLog, consentsStream(site))).toEqual([early.id, late.id]);
});

test.each(['before', 'lost', 'lost, then killed'])(
  'repeats a failed append (%s) without duplicates or losses',
  async (how) => {
    const site = randomUUID();
    const events = consents(site, 30);
    await admit(pipeline.owner, site, events);
    let calls = 0;
    const faulty = faultyLog(pipeline.eventLog, () => {
      calls += 1;
      if (calls % 2 === 0) return null;
      if (how === 'before') return { before: new EventLogUnavailable('down') };
      return how === 'lost' ? 'lost' : { lost: new Error('killed') };
    });
    await whileRunning([relay(faulty)], () => until(async () => (await waiting(site)) === 0));
    expect(await idsInLog(pipeline.eventLog, consentsStream(site))).toEqual(events.map((e) => e.id));
  },
);

test('moves each event once with two relays that both believe to lead', async () => {
  const sites = Array.from({ length: 6 }, () => randomUUID());
  const all = new Map(sites.map((site) => [site, consents(site, 40)]));
  for (const [site, events] of all) await admit(pipeline.owner, site, events);
  const unlocked = await pipeline.newPoolWithoutLocks();
  await whileRunning([relay(pipeline.eventLog, unlocked), relay()], () =>
    until(async () => (await Promise.all(sites.map(waiting))).every((n) => n === 0)),
  );
  for (const [site, events] of all) {
    expect(await idsInLog(pipeline.eventLog, consentsStream(site))).toEqual(events.map((e) => e.id));
  }
  expect(await listQuarantinedSites(pipeline.worker)).toEqual([]);
});

test('quarantines a site that the log refuses permanently, and relays the others', async () => {
  const [bad, good] = [randomUUID(), randomUUID()];
  const refused = consents(bad, 3);
  await admit(pipeline.owner, bad, refused);
  const accepted = consents(good, 3);
  await admit(pipeline.owner, good, accepted);
  const faulty = faultyLog(pipeline.eventLog, ({ stream }) =>
    stream === consentsStream(bad) ? { before: new AppendRefused('the stream is deleted') } : null,
  );
  await whileRunning([relay(faulty)], () =>
    until(async () => (await waiting(good)) === 0 && (await listQuarantinedSites(pipeline.worker)).length === 1),
  );
  expect(await listQuarantinedSites(pipeline.worker)).toMatchObject([{ siteId: bad, reason: 'the stream is deleted' }]);
  expect(await waiting(bad)).toBe(3);
  expect(await releaseSite(pipeline.worker, bad)).toBe(true);
  await whileRunning([relay()], () => until(async () => (await waiting(bad)) === 0));
  expect(await idsInLog(pipeline.eventLog, consentsStream(bad))).toEqual(refused.map((e) => e.id));
});

test('keeps an event that cannot be sealed out of the log', async () => {
  const site = randomUUID();
  await admit(pipeline.owner, site, [event(randomUUID(), 'ConsentRecorded.v1', { record: 1 })]);
  await whileRunning([relay()], () => until(async () => (await listQuarantinedSites(pipeline.worker)).length === 1));
  expect((await listQuarantinedSites(pipeline.worker))[0]?.reason).toContain('cannot be sealed');
  expect(await pipeline.eventLog.lastRevision(consentsStream(site))).toBe(-1);
  await releaseSite(pipeline.worker, site);
  await pipeline.owner.query('delete from outbox where site_id = $1', [site]);
});

test('quarantines a site if another program writes to its stream', async () => {
  const site = randomUUID();
  await pipeline.eventLog.append(consentsStream(site), -1, consents(site, 1));
  await admit(pipeline.owner, site, consents(site, 2));
  await whileRunning([relay()], () => until(async () => (await listQuarantinedSites(pipeline.worker)).length === 1));
  expect((await listQuarantinedSites(pipeline.worker))[0]?.reason).toContain('admin log recover');
  await releaseSite(pipeline.worker, site);
  await pipeline.owner.query('delete from outbox where site_id = $1', [site]);
});

test('continues after the loss of every connection', async () => {
  const site = randomUUID();
  await whileRunning([relay()], async () => {
    for (let round = 0; round < 5; round += 1) {
      await admit(pipeline.owner, site, consents(site, 20));
      await pipeline.owner.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      );
    }
    await until(async () => (await waiting(site)) === 0);
  });
  const ids = await idsInLog(pipeline.eventLog, consentsStream(site));
  expect(ids.length).toBe(100);
  expect(new Set(ids).size).toBe(100);
});

test('refuses a log that ends before the relayed events', async () => {
  const stream = consentsStream(randomUUID());
  await pipeline.owner.query('insert into relayed_streams (stream, revision) values ($1, 3)', [stream]);
  const run = relay().run(new AbortController().signal);
  await expect(run).rejects.toThrow(LogBehind);
  await expect(relay().run(new AbortController().signal)).rejects.toThrow('consent-ledger admin log recover');
  await pipeline.owner.query('delete from relayed_streams where stream = $1', [stream]);
});

test('leaves no step half done when it is stopped', async () => {
  const sites = Array.from({ length: 5 }, () => randomUUID());
  for (const site of sites) await admit(pipeline.owner, site, consents(site, 140));
  for (let round = 0; round < 12; round += 1) {
    let appends = 0;
    const stop = new AbortController();
    const counting = faultyLog(pipeline.eventLog, () => {
      appends += 1;
      // Each round makes at least one append, so the loop ends.
      if (appends > round % 3) stop.abort();
      return null;
    });
    await relay(counting).run(stop.signal);
    for (const site of sites) {
      const stream = consentsStream(site);
      const recorded = await count(pipeline.owner, 'outbox where stream = $1 and revision is not null', [stream]);
      expect(await pipeline.eventLog.lastRevision(stream)).toBe(recorded - 1);
    }
  }
});

test.each<[string, (body: string) => string, (stream: string) => string]>([
  ['an altered decision', (body) => body.replace('partial', 'accepted'), (stream) => stream],
  ['an altered proof hash', (body) => body.replace(/(proof_hash":")[0-9a-f]{4}/, '$10000'), (stream) => stream],
  ['another proof key', (body) => body.replace('proof-1', 'proof-2'), (stream) => stream],
  ['the stream of notices', (body) => body, (stream) => stream.replace('consents', 'notices')],
])('keeps a consent with %s in the outbox out of the log, and quarantines its site', async (_, alter, move) => {
  const [site, good] = [randomUUID(), randomUUID()];
  const [first, second] = consents(site, 2);
  if (first === undefined || second === undefined) throw new Error('no events');
  const body = alter(new TextDecoder().decode(second.data));
  const stream = move(consentsStream(site));
  await admit(pipeline.owner, site, [first]);
  await admit(pipeline.owner, site, [{ ...second, data: new TextEncoder().encode(body) }], stream);
  const accepted = consents(good, 2);
  await admit(pipeline.owner, good, accepted);
  const isQuarantined = async () => (await listQuarantinedSites(pipeline.worker)).some(({ siteId }) => siteId === site);
  await whileRunning([relay()], () => until(async () => (await waiting(good)) === 0 && (await isQuarantined())));
  expect(await idsInLog(pipeline.eventLog, stream)).not.toContain(second.id);
});

test('lets the worker role mark outbox rows, but not alter them', async () => {
  const site = randomUUID();
  await admit(pipeline.owner, site, consents(site, 1));
  await expect(pipeline.worker.query("update outbox set body = ''")).rejects.toThrow('permission denied');
  await expect(
    pipeline.worker.query('update outbox set revision = null where site_id = $1', [site]),
  ).resolves.toBeDefined();
});
