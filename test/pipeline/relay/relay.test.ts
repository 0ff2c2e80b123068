import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { consentsStream, noticesStream } from '../../../schemas/events/streams.js';
import { AppendRefused, EventLogUnavailable, LogBehind } from '../../../src/pipeline/event-log/errors.js';
import type { EventLog } from '../../../src/pipeline/event-log/port.js';
import { listQuarantinedSites, releaseSite } from '../../../src/pipeline/event-log/quarantined-sites.js';
import { BEFORE_ALL_SITES, markRelayed, relayedRows, StreamMoved } from '../../../src/pipeline/relay/outbox.js';
import { createRelay, type Relay } from '../../../src/pipeline/relay/relay.js';
import { faultyLog } from './faulty-log.js';
import {
  admit,
  count,
  dropWaiting,
  event,
  idsInLog,
  newConsent,
  type Pipeline,
  silent,
  startPipeline,
  testKeyring,
  until,
  waitAgain,
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
const waiting = (site: string) => count(pipeline.owner, 'outbox_waiting where site_id = $1', [site]);

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
  const { rows } = await pipeline.owner.query(
    'select event_id from outbox join outbox_relayed using (seq) where stream = $1 order by revision',
    [consentsStream(a)],
  );
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

test('reads no more of a backlog than the rows of a page, with as many relayed rows before it', async () => {
  const site = randomUUID();
  const db = await pipeline.owner.connect();
  const insert = () =>
    db.query(
      `insert into outbox (site_id, stream, event_id, type, body)
       select $1, $2, gen_random_uuid(), 'ConsentRecorded.v1', sha256(n::text::bytea) || decode(repeat('00', 2000), 'hex')
         from generate_series(1, 5000) as g (n)`,
      [site, consentsStream(site)],
    );
  const planOf = async (query: string) =>
    PlanRows.parse((await db.query(`explain (analyze, buffers, format json) ${query}`)).rows)[0]['QUERY PLAN'][0].Plan;
  try {
    // No statistics know of these rows, as under the first load of an installation.
    await insert();
    await db.query('delete from outbox_waiting where site_id = $1', [site]);
    await insert();
    for (const search of [`first_waiting(array['${site}'::uuid], 10)`, `waiting_sites('${BEFORE_ALL_SITES}', 10)`]) {
      // The first call plans, which reads `pg_catalog`, and the next one skips the dead rows.
      for (let call = 0; call < 3; call += 1) await planOf(`select * from ${search}`);
      const plan = await planOf(`select * from ${search}`);
      expect(plan['Actual Rows']).toBeGreaterThan(0);
      expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], search).toBeLessThan(80);
    }
  } finally {
    await dropWaiting(db, site);
    await db.query('delete from outbox where site_id = $1', [site]);
    db.release();
  }
});

test('marks a page by the keys of its rows, also with statistics of a moment at which nothing waited', async () => {
  const site = randomUUID();
  const insert = (rows: number) =>
    pipeline.owner.query(
      `insert into outbox (site_id, stream, event_id, type, body)
       select $1, $2, gen_random_uuid(), 'ConsentRecorded.v1', sha256(n::text::bytea) from generate_series(1, $3::int) as g (n)`,
      [site, consentsStream(site), rows],
    );
  // Pages without a row are what makes the planner expect none.
  await insert(1000);
  await dropWaiting(pipeline.owner, site);
  await pipeline.owner.query('vacuum analyze outbox_waiting');
  await insert(3000);
  const rows = await pipeline.owner.query('select seq from outbox_waiting where site_id = $1 order by seq limit 100', [
    site,
  ]);
  const seqs = z
    .array(z.object({ seq: z.coerce.number() }))
    .parse(rows.rows)
    .map(({ seq }) => seq);
  const db = await pipeline.owner.connect();
  const rowsRead = async () => {
    const { rows } = await db.query(
      `select (seq_tup_read + idx_tup_fetch)::int as n from pg_stat_xact_user_tables where relname = 'outbox_waiting'`,
    );
    return z.tuple([z.object({ n: z.number() })]).parse(rows)[0].n;
  };
  try {
    await db.query('begin');
    const before = await rowsRead();
    expect(await markRelayed(db, [relayedRows(site, consentsStream(site), -1, seqs)])).toEqual(new Set());
    expect((await rowsRead()) - before).toBe(seqs.length);
  } finally {
    await db.query('rollback');
    db.release();
    await dropWaiting(pipeline.owner, site);
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
    await waitAgain(pipeline.owner, 'o.event_id = $1', [early.id]);
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
  await dropWaiting(pipeline.owner, site);
});

test('quarantines a site if another program writes to its stream', async () => {
  const site = randomUUID();
  await pipeline.eventLog.append(consentsStream(site), -1, consents(site, 1));
  await admit(pipeline.owner, site, consents(site, 2));
  await whileRunning([relay()], () => until(async () => (await listQuarantinedSites(pipeline.worker)).length === 1));
  expect((await listQuarantinedSites(pipeline.worker))[0]?.reason).toContain('admin log recover');
  await releaseSite(pipeline.worker, site);
  await dropWaiting(pipeline.owner, site);
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

test('refuses a log that ends before the ledger', async () => {
  await pipeline.owner.query('update sealer_state set ledger_revision = 3');
  const run = relay().run(new AbortController().signal);
  await expect(run).rejects.toThrow(LogBehind);
  await expect(relay().run(new AbortController().signal)).rejects.toThrow('consent-ledger admin log recover');
  await pipeline.owner.query('update sealer_state set ledger_revision = -1');
});

test('quarantines a site whose stream ends before its relayed events, and relays the others', async () => {
  const [lost, other] = [randomUUID(), randomUUID()];
  await pipeline.owner.query('insert into relayed_streams (stream, revision) values ($1, 3)', [consentsStream(lost)]);
  await admit(pipeline.owner, other, consents(other, 3));
  await whileRunning([relay()], () => until(async () => (await waiting(other)) === 0));
  expect(await listQuarantinedSites(pipeline.worker)).toMatchObject([
    { siteId: lost, reason: expect.stringContaining('is empty or was deleted') },
  ]);
  await pipeline.owner.query('delete from relayed_streams where stream = $1', [consentsStream(lost)]);
  await releaseSite(pipeline.worker, lost);
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
      const recorded = await count(pipeline.owner, 'outbox join outbox_relayed using (seq) where stream = $1', [
        stream,
      ]);
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

test('quarantines a site whose waiting row has lost its event, and relays the others', async () => {
  const [bad, good] = [randomUUID(), randomUUID()];
  const lost = consents(bad, 3);
  await admit(pipeline.owner, bad, lost);
  const accepted = consents(good, 3);
  await admit(pipeline.owner, good, accepted);
  await pipeline.owner.query('delete from outbox where event_id = $1', [lost[1]?.id]);
  const quarantine = async () => (await listQuarantinedSites(pipeline.worker)).find(({ siteId }) => siteId === bad);
  await whileRunning([relay()], () =>
    until(async () => (await waiting(good)) === 0 && (await quarantine()) !== undefined),
  );
  expect((await quarantine())?.reason).toMatch(/^row \d+ of the outbox waits, and its event is missing$/);
  expect(await idsInLog(pipeline.eventLog, consentsStream(bad))).not.toContain(lost[2]?.id);
  await releaseSite(pipeline.worker, bad);
  await dropWaiting(pipeline.owner, bad);
});

test('records rows once, and none of a page with one that does not wait', async () => {
  const [a, b] = [randomUUID(), randomUUID()];
  for (const site of [a, b]) await admit(pipeline.owner, site, consents(site, 2));
  const seqsOf = async (site: string) => {
    const { rows } = await pipeline.owner.query('select seq from outbox_waiting where site_id = $1 order by seq', [
      site,
    ]);
    return z
      .array(z.object({ seq: z.coerce.number() }))
      .parse(rows)
      .map(({ seq }) => seq);
  };
  const [first = 0, second = 0] = await seqsOf(a);
  const [other = 0] = await seqsOf(b);
  const ofA = relayedRows(a, consentsStream(a), -1, [first]);
  expect(await markRelayed(pipeline.worker, [ofA])).toEqual(new Set());
  // The answer was lost, and the mark is repeated.
  expect(await markRelayed(pipeline.worker, [ofA])).toEqual(new Set([consentsStream(a)]));
  const page = [relayedRows(b, consentsStream(b), -1, [other]), relayedRows(a, consentsStream(a), 0, [first])];
  await expect(markRelayed(pipeline.worker, page)).rejects.toThrow(StreamMoved);
  expect([await waiting(a), await waiting(b)]).toEqual([1, 2]);
  expect(await count(pipeline.owner, 'relayed_streams where stream = $1', [consentsStream(b)])).toBe(0);
  const { rows } = await pipeline.owner.query(
    'select seq::int, revision::int from outbox_relayed where seq = any($1)',
    [[first, second, other]],
  );
  expect(rows).toEqual([{ seq: first, revision: 0 }]);
  for (const site of [a, b]) await dropWaiting(pipeline.owner, site);
  await pipeline.owner.query('delete from relayed_streams where stream = $1', [consentsStream(a)]);
});

test.each([
  "update outbox set body = ''",
  'update outbox_waiting set size = 0',
  'delete from outbox_waiting',
  'insert into outbox_waiting select * from outbox_waiting',
  'update outbox_relayed set revision = 0',
  'insert into outbox_relayed select * from outbox_relayed',
  'update relayed_streams set revision = 0',
])('lets the worker role mark rows of the outbox, but not: %s', async (statement) => {
  await expect(pipeline.worker.query(statement)).rejects.toThrow('permission denied');
});
