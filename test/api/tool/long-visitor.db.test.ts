import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { StatusResponse } from '../../../schemas/api/status.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import { FairScheduler, type YieldToOthers } from '../../../src/api/guards/fair-scheduler.js';
import { createLoadGate } from '../../../src/api/guards/load-gate.js';
import type { Guard } from '../../../src/api/guards/tool-guard.js';
import { createApp } from '../../../src/api/server/app.js';
import type { Route } from '../../../src/api/server/route.js';
import { STATUS_OPERATIONS, visitorTurns } from '../../../src/api/tool/consent-status.js';
import { EXPORT_OPERATIONS } from '../../../src/api/tool/record-export.js';
import { serveTool } from '../../../src/api/tool/serve-tool.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { exportRecords } from '../../../src/evidence/records/read-records.js';
import { type FoundConsents, type SearchPlace, searchConsents } from '../../../src/evidence/records/search-consents.js';
import { selectRecords } from '../../../src/evidence/records/selection.js';
import type { EventLog, EventPlace } from '../../../src/pipeline/event-log/port.js';
import type { Queryable } from '../../../src/platform/database/pool.js';
import { blindIndex } from '../../../src/platform/keys/index.js';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { createSiteDirectory } from '../../../src/tenancy/directory/site-directory.js';
import { type RecordedMembers, recordManyConsents } from '../../support/recorded-consents.js';
import { rowsRead } from '../../support/rows-read.js';
import { until } from '../../support/wait.js';
import { type RunningApp, startApp } from '../server/running-app.js';

/** Records of a page. */
const PAGE = 50;
const NEWEST = 20;
/** Visitors of the shop, and their records. */
const VISITORS = [
  ['few', 2 * PAGE],
  ['many', 8 * PAGE],
] as const;
/** Requests for the list of a visitor: one is read, and twenty wait. */
const READ_AND_WAITING = 21;
/** Records that an export reads in a turn. */
const RECORDS_IN_A_TURN = 20;
/** Records that one statement of an export selects. */
const RECORDS_OF_A_STATEMENT = 200;

let app: RunningApp;
let shop: SeededDemo;
let other: SeededDemo;
const opened: FastifyInstance[] = [];
beforeAll(async () => {
  app = await startApp('serve');
  shop = await app.seed();
  other = await app.seed();
  for (const [visitor, count] of VISITORS) await record(shop, visitor, count);
  await record(other, 'neighbour', 3 * PAGE);
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});
afterAll(() => app.stop());

function versionOf({ documents }: SeededDemo): string {
  const document = documents.find(({ kind }) => kind === 'cookie_policy');
  return document?.versions.find(({ language, state }) => language === 'en' && state === 'active')?.id ?? '';
}

/** Records consents of one visitor, and waits until the read model shows them. */
async function record(of: SeededDemo, visitor: string, count: number, members: RecordedMembers = {}): Promise<void> {
  const sites = { tenantId: of.tenant_id, siteIds: [of.site.id], documentVersionId: versionOf(of) };
  const before = await shown();
  await recordManyConsents(app.superuser, app.service.installation.keyring, sites, count, {
    visitorOf: () => visitor,
    ...members,
  });
  await until(async () => (await shown()) === before + count);
}

async function shown(): Promise<number> {
  return (await numbers('select count(*)::int as n from read_model.consents'))[0] ?? 0;
}

async function numbers(sql: string, values: unknown[] = [], db: Queryable = app.superuser): Promise<number[]> {
  const { rows } = await db.query(sql, values);
  return z
    .array(z.object({ n: z.coerce.number() }))
    .parse(rows)
    .map(({ n }) => n);
}

interface Served {
  /** Asks for the status of a visitor. */
  status(of: SeededDemo, query: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  /** Exports the records of a site as NDJSON. */
  exported(of: SeededDemo, signal?: AbortSignal): Promise<Response>;
  /** Number of open connections. */
  connections(): Promise<number>;
  /** Handlers of the requests, in their order. */
  readonly handlers: readonly Promise<unknown>[];
}

/** Serves the status route with the parts of the service, except for the given ones. */
async function serve(parts: {
  readonly db?: Queryable;
  readonly readEvents?: EventLog['readEvents'];
  readonly turns?: FairScheduler;
  readonly log?: Logger;
}): Promise<Served> {
  const { apiPool, eventLog, keyring } = app.service.installation;
  // No pause: a clock that stands still measures no work.
  const now = () => 0;
  const { db = apiPool, readEvents = (places) => eventLog.readEvents(places) } = parts;
  const { turns = new FairScheduler({ slots: 2, now }) } = parts;
  const directory = createSiteDirectory(apiPool, keyring);
  const guard: Guard = async (request) => {
    const rawApiKey = String(request.headers['x-api-key']);
    const apiKey = await directory.findApiKey(rawApiKey);
    if (apiKey === null) throw new Error('the API key is unknown');
    const site = await directory.site(apiKey.siteId);
    const { rows } = await app.superuser.query('select id from users where tenant_id = $1', [site.tenantId]);
    const [{ id }] = z.tuple([z.object({ id: z.string() })], z.unknown()).parse(rows);
    const user = { id, tenantId: site.tenantId, email: '', role: 'api_user', signInId: '' } as const;
    request.caller = { apiKey, rawApiKey, site, channel: 'browser', user };
  };
  const handlers: Promise<unknown>[] = [];
  const observed = <D>(routes: readonly Route<'tool', D>[]) =>
    routes.map(
      (route): Route<'tool', D> => ({
        ...route,
        handle: (call, deps) => {
          const answered = route.handle(call, deps);
          handlers.push(answered.catch((error: unknown) => error));
          return answered;
        },
      }),
    );
  const { log = pino({ level: 'silent' }) } = parts;
  const server = createApp({ log, trustedProxies: [] }, [
    async (scope) => {
      await scope.register(
        async (tool) => {
          const serving = {
            guards: {
              anyKey: guard,
              read: guard,
              configuration: guard,
              write: guard,
              s2s: guard,
              s2sRead: guard,
              authorize: () => undefined,
              reauthorize: async () => undefined,
            },
            gate: createLoadGate({ maxInProgress: 1_000, isFull: () => false, onRefused: () => undefined }),
            scanner: null,
            clock: Date.now,
          };
          const shared = { db, keyring, turns };
          const ofStatus = { ...shared, directory, visitors: visitorTurns(now), eventLog: { readEvents } };
          serveTool(tool, observed(STATUS_OPERATIONS), ofStatus, serving);
          serveTool(
            tool,
            observed(EXPORT_OPERATIONS),
            { ...shared, eventLog, onExportError: () => undefined },
            serving,
          );
        },
        { prefix: '/tool/v1' },
      );
    },
  ]);
  opened.push(server);
  const url = await server.listen({ port: 0, host: '127.0.0.1' });
  return {
    handlers,
    connections: () =>
      promisify((done: (error: Error | null, count: number) => void) => server.server.getConnections(done))(),
    status: ({ keys }, query, signal) =>
      fetch(`${url}/tool/v1/consents/status?${new URLSearchParams(query)}`, {
        headers: { 'x-api-key': keys.read },
        ...(signal !== undefined && { signal }),
      }),
    exported: ({ keys }, signal) =>
      fetch(`${url}/tool/v1/s2s/consents/export?format=ndjson`, {
        headers: { 'x-api-key': keys.read },
        ...(signal !== undefined && { signal }),
      }),
  };
}

async function listed(answer: Promise<Response>): Promise<string[]> {
  const response = await answer;
  expect(response.status).toBe(200);
  return StatusResponse.parse(await response.json()).data.consents.map(({ id }) => id);
}

/**
 * Rows and index entries that an export reads of each record, in a few tables: a plan that reads a table for each page
 * reads more, also where the table is small.
 */
const READS_OF_EXPORT = 12;
/** Work for four times as many rows may read so many times as many: a little more for the ends of pages. */
const LINEAR = 4.2;

it('reads each row of a visitor once for the status, however many there are', async () => {
  const rows: number[] = [];
  for (const [visitor, count] of VISITORS) {
    const places = new Set<number>();
    let events = 0;
    const read = await rowsRead(app.service.installation.apiPool, async (db) => {
      const served = await serve({
        db,
        readEvents: (asked) => {
          events += asked.length;
          for (const { revision } of asked) places.add(revision);
          return app.service.installation.eventLog.readEvents(asked);
        },
      });
      expect(await listed(served.status(shop, { visitor_id: visitor, consent_type: 'none' }))).toEqual([]);
    });
    expect([events, places.size]).toEqual([count, count]);
    rows.push(read);
  }
  expectLinear(rows);
});

it('reads test records in turns that are not those of the tenant’s records', async () => {
  const turns = new FairScheduler({ slots: 2, now: () => 0 });
  const taken = vi.spyOn(turns, 'take');
  const { key } = await createApiKey(app.service.installation.adminPool, shop.site.id, 'read', { mode: 'test' });
  const served = await serve({ turns });
  const tester = { ...shop, keys: { ...shop.keys, read: key } };
  for (const ask of [() => served.status(tester, { visitor_id: 'a tester' }), () => served.exported(tester)]) {
    taken.mockClear();
    const answer = await ask();
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/test|^$/)]);
    expect(new Set(taken.mock.calls.map(([owner]) => owner))).toEqual(new Set([`test records of ${shop.tenant_id}`]));
  }
});

function expectLinear([few = Number.NaN, many = Number.NaN]: readonly number[]): void {
  expect(few).toBeGreaterThan(0);
  expect(many).toBeLessThanOrEqual(LINEAR * few);
}

it('reads no more than the pages of a search for the history of a person', async () => {
  const { apiPool, keyring } = app.service.installation;
  const limits = { firstWindow: 10, lastWindow: 10, perRequest: 100 };
  const rows: number[] = [];
  for (const [visitor, count] of VISITORS) {
    const person = {
      kind: 'visitor',
      index: blindIndex(await keyring.siteKey(shop.site.id), 'visitor', visitor),
    } as const;
    const found = new Set<string>();
    const read = await rowsRead(apiPool, async (db) => {
      const filter = { limit: 10, consent_type: 'cookie' };
      for (let after: SearchPlace | null = null; ; ) {
        const page: FoundConsents = await searchConsents(
          db,
          keyring,
          { siteId: shop.site.id, filter, person, after },
          { limits },
        );
        for (const row of page.rows) found.add(row.event_id);
        if (page.next === null) break;
        after = page.next;
      }
    });
    expect(found.size).toBe(count);
    rows.push(read);
  }
  expectLinear(rows);
});

it('ends a search when the client has left', async () => {
  const { apiPool, keyring } = app.service.installation;
  const limits = { firstWindow: 10, lastWindow: 10, perRequest: 1_000 };
  const gone = new AbortController();
  const reason = new Error('the client has left');
  const search = { siteId: shop.site.id, filter: { limit: 10, consent_type: 'none' }, person: null, after: null };
  const left = searchConsents(apiPool, keyring, search, { limits, gone: gone.signal });
  gone.abort(reason);
  await expect(left).rejects.toBe(reason);
});

it('reads each row of a visitor a few times for an export, and ends when the client has left', async () => {
  const { apiPool, keyring } = app.service.installation;
  const { eventLog } = app.service.installation;
  const directory = createSiteDirectory(apiPool, keyring);
  const site = await directory.site(shop.site.id);
  const range = { after: -1, upTo: 1_000_000 };
  const gone = new AbortController();
  const rows: number[] = [];
  for (const [visitor, count] of VISITORS) {
    const revisions: number[] = [];
    const read = await rowsRead(apiPool, async (db) => {
      const selected = selectRecords(
        db,
        keyring,
        site,
        { visitor_id: visitor, consent_type: 'cookie' },
        range,
        gone.signal,
      );
      for await (const page of selected)
        for (const { revision } of await exportRecords({ db, eventLog, keyring }, site, page)) revisions.push(revision);
    });
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
    expect(revisions).toHaveLength(count);
    expect(read).toBeLessThanOrEqual(READS_OF_EXPORT * count);
    rows.push(read);
  }
  expectLinear(rows);
  const reason = new Error('the client has left');
  for (const filter of [{ visitor_id: 'many' }, {}]) {
    const left = new AbortController();
    const selected = selectRecords(apiPool, keyring, site, filter, range, left.signal);
    expect((await selected.next()).done).toBe(false);
    left.abort(reason);
    await expect(selected.next()).rejects.toBe(reason);
  }
});

it('ends with the newest that match, by their order in the log', async () => {
  const { status } = await serve({});
  // Ids of one millisecond are in no order, and all of these were made within few.
  const { rows } = await app.superuser.query(
    `select event_id as id from read_model.consents where site_id = $1 order by revision desc limit ${NEWEST}`,
    [other.site.id],
  );
  const newest = z.array(z.object({ id: z.string() })).parse(rows);
  expect(await listed(status(other, { visitor_id: 'neighbour' }))).toEqual(newest.map(({ id }) => id));
  const asked: (readonly EventPlace[])[] = [];
  const { eventLog } = app.service.installation;
  const counted = await serve({
    readEvents: (places) => {
      asked.push(places);
      return eventLog.readEvents(places);
    },
  });
  const start = Date.now() - 4 * PAGE * 120_000;
  await record(shop, 'since long', 4 * PAGE, { timeOf: (number) => new Date(start + number * 120_000) });
  expect(await listed(counted.status(shop, { visitor_id: 'since long' }))).toHaveLength(NEWEST);
  expect(asked.map((places) => places.length)).toEqual([PAGE]);
});

it('stops when the client has left', async () => {
  const client = new AbortController();
  const { eventLog } = app.service.installation;
  let reads = 0;
  let leave = (): void => undefined;
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const served = await serve({
    readEvents: async (places) => {
      reads += 1;
      if (reads === 2) {
        client.abort();
        await left;
      }
      return eventLog.readEvents(places);
    },
  });
  const answer = served.status(shop, { visitor_id: 'many', consent_type: 'none' }, client.signal);
  await expect(answer).rejects.toThrow();
  await expect.poll(() => served.connections()).toBe(0);
  leave();
  expect(await served.handlers[0]).toMatchObject({ code: 'REQUEST_TIMEOUT' });
  expect(reads).toBe(2);
});

interface HeldPages {
  readonly readEvents: EventLog['readEvents'];
  /** Pages that were begun and wait. */
  readonly held: () => number;
  /** From now on, pages of these visitors of the shop wait, except the first of each list, which needs no turn. */
  hold(visitors: readonly string[], status: Served['status']): Promise<void>;
  release(): void;
}

function holdPages(): HeldPages {
  const { eventLog } = app.service.installation;
  const streamOfShop = consentsStream(shop.site.id);
  const nameOf = (places: readonly EventPlace[]): string => places.map(({ revision }) => revision).join();
  const firstPages = new Set<string>();
  const read: string[] = [];
  let isHeld = false;
  let waiting: (() => void)[] = [];
  return {
    readEvents: async (places) => {
      const name = nameOf(places);
      read.push(name);
      if (isHeld && places[0]?.stream === streamOfShop && !firstPages.has(name))
        await new Promise<void>((resolve) => waiting.push(resolve));
      return eventLog.readEvents(places);
    },
    held: () => waiting.length,
    hold: async (visitors, status) => {
      for (const visitor of visitors) {
        read.length = 0;
        await listed(status(shop, { visitor_id: visitor }));
        firstPages.add(read[0] ?? '');
      }
      isHeld = true;
    },
    release: () => {
      isHeld = false;
      for (const go of waiting) go();
      waiting = [];
    },
  };
}

it('reads one long list of a visitor and one page of a tenant at a time, and no other tenant waits', async () => {
  const pages = holdPages();
  const { status, handlers } = await serve(pages);
  const visitors = ['few', 'few', 'many', 'many'];
  await pages.hold(['few', 'many'], status);
  const before = handlers.length;
  const answers = visitors.map((visitor) => listed(status(shop, { visitor_id: visitor, consent_type: 'none' })));
  try {
    await expect.poll(() => [handlers.length - before, pages.held()]).toEqual([visitors.length, 1]);
    expect(await listed(status(other, { visitor_id: 'neighbour' }))).toHaveLength(NEWEST);
    expect(pages.held()).toBe(1);
  } finally {
    pages.release();
  }
  expect(await Promise.all(answers)).toEqual(visitors.map(() => []));
});

it('refuses further requests for a long list of one visitor, and answers those of another', async () => {
  const pages = holdPages();
  const logged: string[] = [];
  const { status } = await serve({ ...pages, log: pino({ level: 'error' }, { write: (line) => logged.push(line) }) });
  await pages.hold(['many'], status);
  const query = { visitor_id: 'many', consent_type: 'none' };
  const answers = Array.from({ length: READ_AND_WAITING + 2 }, () => status(shop, query));
  try {
    const refused = await Promise.any(answers);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('2');
  } finally {
    pages.release();
  }
  const statuses = (await Promise.all(answers)).map((answer) => answer.status);
  expect(statuses.filter((one) => one === 503)).toHaveLength(2);
  // A bound that held is no failure: only the line of the request states it.
  expect(logged.map((line) => JSON.parse(line).msg)).toEqual(['request', 'request']);
  expect(await listed(status(shop, { visitor_id: 'few' }))).toHaveLength(NEWEST);
});

it('logs no failure when the client leaves during an export', async () => {
  const logged: string[] = [];
  const gone = new AbortController();
  let taken = 0;
  let left = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    left = resolve;
  });
  class Leaving extends FairScheduler {
    override async take<T>(...given: Parameters<typeof FairScheduler.prototype.take<T>>): Promise<T> {
      taken += 1;
      // The first chunk has been sent by then.
      if (taken === 8) {
        gone.abort();
        given[2]?.addEventListener('abort', left);
        await ended;
      }
      return super.take(...given);
    }
  }
  const log = pino({ level: 'error' }, { write: (line) => logged.push(line) });
  const { exported } = await serve({ log, turns: new Leaving({ slots: 1, now: () => 0 }) });
  const response = await exported(shop, gone.signal);
  await expect(response.text()).rejects.toThrow();
  await ended;
  await new Promise((resolve) => setImmediate(resolve));
  expect([taken, logged]).toEqual([8, []]);
});

it('exports records in turns of a few, and holds no turn while the client reads', async () => {
  const owners: string[] = [];
  class Counted extends FairScheduler {
    override take<T>(
      owner: string,
      ...others: [work: (yieldToOthers: YieldToOthers) => Promise<T>, gone?: AbortSignal]
    ): Promise<T> {
      owners.push(owner);
      return super.take(owner, ...others);
    }
  }
  const turns = new Counted({ slots: 1, now: () => 0 });
  const { exported } = await serve({ turns });
  const total =
    (await numbers('select count(*) as n from read_model.consents where site_id = $1', [shop.site.id]))[0] ?? 0;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const another = turns.take('another tenant', () => released);
  const response = exported(shop);
  await expect.poll(() => owners).toEqual(['another tenant', shop.tenant_id]);
  release();
  await another;
  const lines = (await (await response).text()).trimEnd().split('\n');
  expect(lines).toHaveLength(total);
  const turnsOfRecords = Math.ceil(total / RECORDS_IN_A_TURN);
  const turnsOfStatements = Math.ceil(total / RECORDS_OF_A_STATEMENT) + 1;
  expect(owners.filter((owner) => owner === shop.tenant_id)).toHaveLength(turnsOfRecords + turnsOfStatements);
});

it.each([
  [
    'has another kind, version, time and state',
    `consent_type = 'none', document_version_id = gen_random_uuid(),
     valid_until = now() - interval '1 day', claimed_at = now(), created_at = '2020-01-01', erased_by = 1`,
  ],
  ['has another proof hash', `proof_hash = decode(repeat('00', 32), 'hex')`],
  ['states the place of another record', 'revision = 0'],
  ['states a place that the log does not have', 'revision = 1000000'],
  ['is of another site', 'site_id = gen_random_uuid()'],
  ['is gone', null],
])('hides no record whose row of the read model %s', async (_, assignment) => {
  const visitor = `altered ${_}`;
  await record(other, visitor, 1);
  const { status } = await serve({});
  const query = { visitor_id: visitor, consent_type: 'cookie', document_version_id: versionOf(other) };
  const [id] = await listed(status(other, query));
  expect(id).toBeDefined();
  await expect.poll(() => numbers('select revision as n from leaves where event_id = $1', [id])).toHaveLength(1);
  const change =
    assignment === null ? 'delete from rm_consents_1.consents' : `update rm_consents_1.consents set ${assignment}`;
  await app.superuser.query(`${change} where event_id = $1`, [id]);
  expect(await listed(status(other, query))).toEqual([id]);
});

it('answers with an error where it cannot find a record', async () => {
  await record(other, 'lost', 2);
  const { status } = await serve({});
  const [, id] = await listed(status(other, { visitor_id: 'lost' }));
  await expect.poll(() => numbers('select revision as n from leaves where event_id = $1', [id])).toHaveLength(1);
  await app.superuser.query('update rm_consents_1.consents set revision = 0 where event_id = $1', [id]);
  await app.superuser.query('update sealed_events set event_id = gen_random_uuid() where event_id = $1', [id]);
  expect((await status(other, { visitor_id: 'lost' })).status).toBe(503);
});
