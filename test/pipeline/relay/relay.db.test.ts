import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { consentsStream, noticesStream } from '../../../schemas/events/streams.js';
import { AppendRefused, EventLogUnavailable, LogBehind } from '../../../src/pipeline/event-log/errors.js';
import type { EventLog } from '../../../src/pipeline/event-log/port.js';
import { listQuarantinedSites, releaseSite } from '../../../src/pipeline/event-log/quarantined-sites.js';
import { createRelay, type Relay } from '../../../src/pipeline/relay/relay.js';
import { setRefusedAside } from '../../../src/pipeline/relay/set-aside.js';
import { BEFORE_ALL_SITES, loggedRevision, markRelayed, StreamMoved } from '../../../src/pipeline/relay/waiting.js';
import { type Look, pause } from '../../../src/platform/background/waiting.js';
import { until } from '../../support/wait.js';
import { readToEnd } from '../event-log/events.js';
import { damageSql } from '../event-log/postgres-fixture.js';
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
  whileRunning,
} from './pipeline.js';

let pipeline: Pipeline;
/** The log of the pipeline, to which its database gives positions, or one outside, to which events are appended. */
let log: EventLog;

function relay(eventLog: EventLog = log, db: pg.Pool = pipeline.worker, gatherMs = 20, look?: Look): Relay {
  return createRelay({
    ...(look && { look }),
    gatherMs,
    keyring: testKeyring,
    db,
    eventLog,
    logger: silent,
    retentionMs: 3_600_000,
    pollMs: 20,
    maxEvents: 7,
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
const waiting = (site: string) => count(pipeline.owner, 'event_log.waiting_events where site_id = $1', [site]);

/** Lets transactions of one event each wait. */
const backlog = (db: Pick<pg.Pool, 'query'>, site: string, rows: number) =>
  db.query(
    `do $$ begin for n in 1..${rows} loop
       perform event_log.put(array['${site}'::uuid], array['${consentsStream(site)}'], array[gen_random_uuid()],
         array['ConsentRecorded.v1'], array[sha256(n::text::bytea)], array[null::timestamptz]);
     end loop; end $$`,
  );

const WaitingRows = z.array(z.object({ number: z.coerce.number(), revision: z.coerce.number() }));

async function rowsOf(site: string, limit = 100) {
  const { rows } = await pipeline.owner.query(
    'select number, revision from event_log.waiting where site_id = $1 order by number limit $2',
    [site, limit],
  );
  return WaitingRows.parse(rows).map((row) => ({ ...row, siteId: site, count: 1 }));
}

describe.each(['in the database', 'outside'])('the log is %s', (place) => {
  beforeAll(async () => {
    pipeline = await startPipeline();
    log = place === 'outside' ? await pipeline.newLog() : pipeline.eventLog;
  });
  afterAll(() => pipeline.close());

  test('moves the events of each site in order across its streams', async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    const first = consents(a, 20);
    const noticeId = randomUUID();
    const notice = event(noticeId, 'SiteConfigPublished.v1', {
      record: JSON.stringify({ event_id: noticeId, site_id: a }),
    });
    const second = consents(a, 20);
    await admit(pipeline.owner, a, first.slice(0, 6));
    await admit(pipeline.owner, a, first.slice(6));
    await admit(pipeline.owner, a, [notice], noticesStream(a));
    await admit(pipeline.owner, a, second);
    const other = consents(b, 5);
    await admit(pipeline.owner, b, other);
    await whileRunning([relay(log)], () => until(async () => (await waiting(a)) + (await waiting(b)) === 0));
    expect(await idsInLog(log, consentsStream(a))).toEqual([...first, ...second].map((e) => e.id));
    expect(await idsInLog(log, noticesStream(a))).toEqual([notice.id]);
    expect(await idsInLog(log, consentsStream(b))).toEqual(other.map((e) => e.id));
    const order = (await readToEnd(log, null)).filter(({ stream }) => stream.endsWith(a)).map(({ id }) => id);
    expect(order).toEqual([...first, notice, ...second].map((e) => e.id));
    expect(await loggedRevision(pipeline.worker, consentsStream(a))).toBe(39);
  });

  test('sleeps while nothing waits, and is notified of an event only then', async () => {
    const site = randomUUID();
    let [sleeps, notified] = [0, 0];
    const look = {
      wait: (_ms: number, ...signals: readonly AbortSignal[]) => {
        sleeps += 1;
        return pause(600_000, ...signals);
      },
    };
    const [listener, writer] = [await pipeline.owner.connect(), await pipeline.owner.connect()];
    listener.on('notification', () => {
      notified += 1;
    });
    await listener.query('LISTEN consent_ledger_waiting');
    // An event that was written before it sleeps would not wake it: it stays awake until the commit.
    await writer.query('begin');
    await admit(writer, site, consents(site, 1));
    try {
      await whileRunning([relay(log, pipeline.worker, 20, look)], async () => {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        expect(sleeps).toBe(0);
        await writer.query('commit');
        for (const round of [1, 2]) {
          await until(() => sleeps >= round);
          expect(await waiting(site)).toBe(0);
          await admit(pipeline.owner, site, consents(site, 1));
          await until(async () => (await waiting(site)) === 0);
          await listener.query('select 1');
          expect(notified).toBe(round);
        }
      });
    } finally {
      writer.release(true);
      listener.release(true);
    }
  });

  test('lets events gather only after a page that took all of them', async () => {
    const sites = [randomUUID(), randomUUID(), randomUUID()];
    const [busy = ''] = sites;
    for (const site of sites)
      for (let n = 0; n < (site === busy ? 20 : 1); n += 1) await admit(pipeline.owner, site, consents(site, 2));
    const late = randomUUID();
    const one = relay(log, pipeline.worker, 3_600_000);
    await whileRunning([one], async () => {
      // Each page has few events of the busy site.
      await until(async () => (await waiting(busy)) === 0);
      await admit(pipeline.owner, late, consents(late, 1));
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(await waiting(late)).toBe(1);
      one.wake();
      await until(async () => (await waiting(late)) === 0);
    });
    for (const site of sites) expect(await waiting(site)).toBe(0);
  });

  test('gives the revisions of one site in the order of commits, and those of an aborted transaction again', async () => {
    const site = randomUUID();
    const [first, aborted, second] = [newConsent(site), newConsent(site), newConsent(site)];
    const slow = await pipeline.owner.connect();
    try {
      await slow.query('begin');
      await admit(slow, site, [first]);
      const waits = admit(pipeline.owner, site, [second]);
      const blocked = `pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(() => count(pipeline.owner, blocked)).toBe(1);
      await slow.query('commit');
      await waits;
      await slow.query('begin');
      await admit(slow, site, [aborted]);
      await slow.query('rollback');
      const third = newConsent(site);
      await admit(slow, site, [third]);
      await whileRunning([relay()], () => until(async () => (await waiting(site)) === 0));
      expect(await idsInLog(log, consentsStream(site))).toEqual([first.id, second.id, third.id]);
    } finally {
      slow.release();
    }
  });

  test('moves each event once, with two relays that both believe to lead', async () => {
    const sites = Array.from({ length: 6 }, () => randomUUID());
    const all = new Map(sites.map((site) => [site, consents(site, 40)]));
    for (const [site, events] of all)
      for (let n = 0; n < 40; n += 4) await admit(pipeline.owner, site, events.slice(n, n + 4));
    const unlocked = await pipeline.newPoolWithoutLocks();
    await whileRunning([relay(log, unlocked), relay(log)], () =>
      until(async () => (await Promise.all(sites.map(waiting))).every((n) => n === 0)),
    );
    for (const [site, events] of all)
      expect(await idsInLog(log, consentsStream(site))).toEqual(events.map((e) => e.id));
    expect(await listQuarantinedSites(pipeline.worker)).toEqual([]);
  });

  test('keeps an event that cannot be sealed out of the log', async () => {
    const site = randomUUID();
    await admit(pipeline.owner, site, [event(randomUUID(), 'ConsentRecorded.v1', { record: 1 })]);
    await whileRunning([relay()], () => until(async () => (await listQuarantinedSites(pipeline.worker)).length === 1));
    expect((await listQuarantinedSites(pipeline.worker))[0]?.reason).toContain('cannot be sealed');
    expect(await log.lastRevision(consentsStream(site))).toBe(-1);
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
    const ids = await idsInLog(log, consentsStream(site));
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
    await pipeline.owner.query('insert into event_log.streams (name, next_revision) values ($1, 4)', [
      consentsStream(lost),
    ]);
    await admit(pipeline.owner, other, consents(other, 3));
    await whileRunning([relay()], () => until(async () => (await waiting(other)) === 0));
    expect(await listQuarantinedSites(pipeline.worker)).toMatchObject([
      { siteId: lost, reason: expect.stringContaining('is empty or was deleted') },
    ]);
    await pipeline.owner.query('update event_log.streams set next_revision = 0 where name = $1', [
      consentsStream(lost),
    ]);
    await releaseSite(pipeline.worker, lost);
  });

  test.each<[string, (body: string) => string, (stream: string) => string]>([
    ['an altered decision', (body) => body.replace('partial', 'accepted'), (stream) => stream],
    ['an altered proof hash', (body) => body.replace(/(proof_hash":")[0-9a-f]{4}/, '$10000'), (stream) => stream],
    ['another proof key', (body) => body.replace('proof-1', 'proof-2'), (stream) => stream],
    ['the stream of notices', (body) => body, (stream) => stream.replace('consents', 'notices')],
  ])('keeps a waiting consent with %s out of the log, and quarantines its site', async (_, alter, move) => {
    const [site, good] = [randomUUID(), randomUUID()];
    const [first, second] = consents(site, 2);
    if (first === undefined || second === undefined) throw new Error('no events');
    const body = alter(new TextDecoder().decode(second.data));
    const stream = move(consentsStream(site));
    await admit(pipeline.owner, site, [first]);
    await admit(pipeline.owner, site, [{ ...second, data: new TextEncoder().encode(body) }], stream);
    const accepted = consents(good, 2);
    await admit(pipeline.owner, good, accepted);
    const isQuarantined = async () =>
      (await listQuarantinedSites(pipeline.worker)).some(({ siteId }) => siteId === site);
    await whileRunning([relay()], () => until(async () => (await waiting(good)) === 0 && (await isQuarantined())));
    expect(await idsInLog(log, stream)).not.toContain(second.id);
  });

  test('quarantines a site whose waiting row has lost its event, and relays the others', async () => {
    const [bad, good] = [randomUUID(), randomUUID()];
    const lost = consents(bad, 3);
    await admit(pipeline.owner, bad, lost);
    const accepted = consents(good, 3);
    await admit(pipeline.owner, good, accepted);
    await pipeline.owner.query('delete from event_log.events where id = $1', [lost[1]?.id]);
    const quarantine = async () => (await listQuarantinedSites(pipeline.worker)).find(({ siteId }) => siteId === bad);
    await whileRunning([relay()], () =>
      until(async () => (await waiting(good)) === 0 && (await quarantine()) !== undefined),
    );
    expect((await quarantine())?.reason).toMatch(/^row \d+ of event_log.waiting waits, and an event of it is missing$/);
    expect(await idsInLog(log, consentsStream(bad))).not.toContain(lost[2]?.id);
    await releaseSite(pipeline.worker, bad);
    await dropWaiting(pipeline.owner, bad);
  });

  test('records rows once, and none of a page with one that does not wait', async () => {
    const [a, b] = [randomUUID(), randomUUID()];
    for (const site of [a, b, a, b]) await admit(pipeline.owner, site, consents(site, 1));
    const [first] = await rowsOf(a);
    const [other] = await rowsOf(b);
    if (first === undefined || other === undefined) throw new Error('no rows wait');
    await markRelayed(pipeline.worker, [first]);
    // The answer was lost, and the mark is repeated.
    await expect(markRelayed(pipeline.worker, [first])).rejects.toThrow(StreamMoved);
    await expect(markRelayed(pipeline.worker, [other, first])).rejects.toThrow(StreamMoved);
    expect([await waiting(a), await waiting(b)]).toEqual([1, 2]);
    expect(await loggedRevision(pipeline.worker, consentsStream(a))).toBe(0);
    expect(await loggedRevision(pipeline.worker, consentsStream(b))).toBe(-1);
    for (const site of [a, b]) await dropWaiting(pipeline.owner, site);
  });
});

describe('the log is outside', () => {
  beforeAll(async () => {
    pipeline = await startPipeline();
    log = await pipeline.newLog();
  });
  afterAll(() => pipeline.close());

  test.each(['before', 'lost', 'lost, then killed'])(
    'repeats a failed append (%s) without duplicates or losses',
    async (how) => {
      const site = randomUUID();
      const events = consents(site, 30);
      for (let n = 0; n < 30; n += 5) await admit(pipeline.owner, site, events.slice(n, n + 5));
      let calls = 0;
      const faulty = faultyLog(log, () => {
        calls += 1;
        if (calls % 2 === 0) return null;
        if (how === 'before') return { before: new EventLogUnavailable('down') };
        return how === 'lost' ? 'lost' : { lost: new Error('killed') };
      });
      await whileRunning([relay(faulty)], () => until(async () => (await waiting(site)) === 0));
      expect(await idsInLog(log, consentsStream(site))).toEqual(events.map((e) => e.id));
    },
  );

  test('splits what one append does not accept', async () => {
    const site = randomUUID();
    const events = consents(site, 12);
    await admit(pipeline.owner, site, events);
    const bytes = events.slice(0, 5).reduce((sum, { data, type }) => sum + data.length + type.length + 200, 0);
    const small: EventLog = { ...faultyLog(log, () => null), maxAppendBytes: bytes };
    await whileRunning([relay(small)], () => until(async () => (await waiting(site)) === 0));
    expect(await idsInLog(log, consentsStream(site))).toEqual(events.map((e) => e.id));
  });

  test('quarantines a site that the log refuses permanently, and relays the others', async () => {
    const [bad, good] = [randomUUID(), randomUUID()];
    const refused = consents(bad, 3);
    await admit(pipeline.owner, bad, refused);
    const accepted = consents(good, 3);
    await admit(pipeline.owner, good, accepted);
    const faulty = faultyLog(log, ({ stream }) =>
      stream === consentsStream(bad) ? { before: new AppendRefused('the stream is deleted') } : null,
    );
    await whileRunning([relay(faulty)], () =>
      until(async () => (await waiting(good)) === 0 && (await listQuarantinedSites(pipeline.worker)).length === 1),
    );
    expect(await listQuarantinedSites(pipeline.worker)).toMatchObject([
      { siteId: bad, reason: 'the stream is deleted' },
    ]);
    expect(await waiting(bad)).toBe(3);
    expect(await releaseSite(pipeline.worker, bad)).toBe(true);
    await whileRunning([relay(log)], () => until(async () => (await waiting(bad)) === 0));
    expect(await idsInLog(log, consentsStream(bad))).toEqual(refused.map((e) => e.id));
  });

  test('quarantines a site if another program writes to its stream', async () => {
    const site = randomUUID();
    await log.append(consentsStream(site), -1, consents(site, 1));
    await admit(pipeline.owner, site, consents(site, 2));
    await whileRunning([relay(log)], () =>
      until(async () => (await listQuarantinedSites(pipeline.worker)).length === 1),
    );
    expect((await listQuarantinedSites(pipeline.worker))[0]?.reason).toContain('admin log recover');
    await releaseSite(pipeline.worker, site);
    await dropWaiting(pipeline.owner, site);
  });

  test('leaves no step half done when it is stopped', async () => {
    const sites = Array.from({ length: 5 }, () => randomUUID());
    for (const site of sites) for (let n = 0; n < 20; n += 1) await admit(pipeline.owner, site, consents(site, 7));
    for (let round = 0; round < 12; round += 1) {
      let appends = 0;
      const stop = new AbortController();
      const counting = faultyLog(log, () => {
        appends += 1;
        // Each round makes at least one append, so the loop ends.
        if (appends > round % 3) stop.abort();
        return null;
      });
      await relay(counting).run(stop.signal);
      for (const site of sites) {
        const stream = consentsStream(site);
        expect(await log.lastRevision(stream)).toBe(await loggedRevision(pipeline.worker, stream));
      }
    }
  });
});

test('sets altered and missing events aside, and relays those around them', async () => {
  const own = await startPipeline();
  try {
    const site = randomUUID();
    const events = consents(site, 6);
    for (const one of [events.slice(0, 1), events.slice(1, 4), events.slice(4)]) await admit(own.owner, site, one);
    const [, altered, , missing] = events;
    for (const statement of [
      ...damageSql(`update event_log.events set data = convert_to(replace(convert_from(data, 'UTF8'), 'partial', 'accepted'), 'UTF8')
        where id = '${altered?.id}'`),
      `delete from event_log.events where id = '${missing?.id}'`,
    ])
      await own.owner.query(statement);
    const part = createRelay({
      keyring: testKeyring,
      db: own.worker,
      eventLog: own.eventLog,
      logger: silent,
      retentionMs: 3_600_000,
      pollMs: 20,
    });
    await whileRunning([part], () => until(async () => (await listQuarantinedSites(own.worker)).length === 1));
    expect(await setRefusedAside(own.worker, testKeyring, site)).toEqual({ eventIds: [altered?.id], missing: 1 });
    expect(await count(own.owner, 'event_log.set_aside where id = $1', [altered?.id])).toBe(1);
    await releaseSite(own.worker, site);
    const later = newConsent(site);
    await admit(own.owner, site, [later]);
    await whileRunning([part], () => until(async () => (await count(own.owner, 'event_log.waiting')) === 0));
    const expected = [...events.filter((event) => event !== altered && event !== missing), later];
    expect(await idsInLog(own.eventLog, consentsStream(site))).toEqual(expected.map(({ id }) => id));
  } finally {
    await own.close();
  }
});

describe('the tables of what waits', () => {
  beforeAll(async () => {
    pipeline = await startPipeline();
    log = pipeline.eventLog;
  });
  afterAll(() => pipeline.close());

  test('reads no more of a backlog than the rows of a page, with as many relayed rows before it', async () => {
    const site = randomUUID();
    const db = await pipeline.owner.connect();
    const planOf = async (query: string) =>
      PlanRows.parse((await db.query(`explain (analyze, buffers, format json) ${query}`)).rows)[0]['QUERY PLAN'][0]
        .Plan;
    try {
      // No statistics know of these rows, as under the first load of an installation.
      await backlog(db, site, 3000);
      await db.query('delete from event_log.waiting where site_id = $1', [site]);
      await backlog(db, site, 3000);
      for (const search of [
        `event_log.first_waiting(array['${site}'::uuid], 10)`,
        `event_log.waiting_sites('${BEFORE_ALL_SITES}', 10)`,
      ]) {
        // The first call plans, which reads `pg_catalog`, and the next one skips the dead rows.
        for (let call = 0; call < 3; call += 1) await planOf(`select * from ${search}`);
        const plan = await planOf(`select * from ${search}`);
        expect(plan['Actual Rows']).toBeGreaterThan(0);
        expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], search).toBeLessThan(80);
      }
    } finally {
      await dropWaiting(db, site);
      db.release();
    }
  });

  test('marks a page by the keys of its rows, also with statistics of a moment at which nothing waited', async () => {
    const site = randomUUID();
    // Pages without a row are what makes the planner expect none.
    await backlog(pipeline.owner, site, 1000);
    await dropWaiting(pipeline.owner, site);
    await pipeline.owner.query('vacuum analyze event_log.waiting');
    await backlog(pipeline.owner, site, 3000);
    const rows = await rowsOf(site);
    const db = await pipeline.owner.connect();
    const rowsRead = async () => {
      const { rows } = await db.query(
        `select (seq_tup_read + idx_tup_fetch)::int as n from pg_stat_xact_user_tables where relname = 'waiting'`,
      );
      return z.tuple([z.object({ n: z.number() })]).parse(rows)[0].n;
    };
    try {
      await db.query('begin');
      const before = await rowsRead();
      await markRelayed(db, rows);
      expect((await rowsRead()) - before).toBe(rows.length);
    } finally {
      await db.query('rollback');
      db.release();
      await dropWaiting(pipeline.owner, site);
    }
  });

  test.each([
    "update event_log.events set data = ''",
    'insert into event_log.events select * from event_log.events',
    'update event_log.waiting set bytes = 0',
    'delete from event_log.waiting',
    'insert into event_log.waiting overriding system value select * from event_log.waiting',
    'update event_log.streams set next_revision = 0',
    'insert into event_log.runs select * from event_log.runs',
  ])('lets the worker role move waiting events to the log, but not: %s', async (statement) => {
    await expect(pipeline.worker.query(statement)).rejects.toThrow('permission denied');
  });
});
