import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { consents } from '../../../projections/consents.js';
import { dailyCounts } from '../../../projections/daily-counts.js';
import { type Projection, TableDefinition } from '../../../projections/definition.js';
import { PROJECTIONS } from '../../../projections/index.js';
import { consentsStream, LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { appendExactlyOnce } from '../../../src/pipeline/event-log/append-exactly-once.js';
import type { NewEvent } from '../../../src/pipeline/event-log/port.js';
import { applyPage, GenerationMoved, preparePage } from '../../../src/pipeline/projector/apply-events.js';
import {
  compareProjection,
  createProjector,
  fileProjections,
  knownProjection,
  listProjections,
  loadProjection,
  prepareProjections,
  projectionStatus,
  rebuildProjection,
  removeProjection,
  stoppedProjections,
} from '../../../src/pipeline/projector/index.js';
import type { BackgroundPart } from '../../../src/platform/background/part.js';
import { until } from '../../support/wait.js';
import {
  count,
  event,
  newConsent,
  newErasure,
  type Pipeline,
  silent,
  startPipeline,
  whileRunning,
} from '../relay/pipeline.js';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline();
  await prepareProjections(pipeline.projections, PROJECTIONS);
});
afterAll(() => pipeline.close());

function projector(projections: readonly Projection[] = PROJECTIONS): BackgroundPart {
  const { projections: pool, eventLog } = pipeline;
  return createProjector({ db: pool, eventLog, logger: silent, projections, stoppedPollMs: 50 });
}

async function append(site: string, events: readonly NewEvent[], stream = consentsStream(site)): Promise<void> {
  await appendExactlyOnce(pipeline.eventLog, stream, await pipeline.eventLog.lastRevision(stream), events);
}

const statusOf = (projections: readonly Projection[]) =>
  projectionStatus(
    pipeline.projections,
    pipeline.eventLog,
    projections.map((projection) => knownProjection(projection, 'service')),
  );

async function upToDate(projections: readonly Projection[] = PROJECTIONS): Promise<boolean> {
  const all = await statusOf(projections);
  return all.every((status) => status.state === 'running' && status.isUpToDate === true);
}

/** Columns of the indexes of a live table, by name. */
async function indexesOf(table: string): Promise<readonly unknown[]> {
  const { rows } = await pipeline.owner.query(
    `select i.indexname, substring(i.indexdef from ' USING .*') as columns from pg_indexes i
       join projections p on i.schemaname = 'rm_' || p.name || '_' || p.live_generation
      where i.tablename = $1 order by 1`,
    [table],
  );
  return rows;
}

const consentsOf = (site: string, n: number) => Array.from({ length: n }, () => newConsent(site));
const rowsOf = (site: string) => count(pipeline.owner, 'read_model.consents where site_id = $1', [site]);

test('stores each record of the log as one row with its place and its proof hash', async () => {
  const site = randomUUID();
  const events = consentsOf(site, 1_200);
  await append(site, events.slice(0, 700));
  await whileRunning([projector()], async () => {
    await append(site, events.slice(700));
    await until(async () => (await rowsOf(site)) === 1_200 && (await upToDate()));
  });
  const { rows } = await pipeline.owner.query(
    'select event_id, revision, proof_hash from read_model.consents where site_id = $1 order by revision',
    [site],
  );
  const read = z
    .array(z.object({ event_id: z.string(), revision: z.int(), proof_hash: z.instanceof(Buffer) }))
    .parse(rows);
  expect(read.map((row) => row.event_id)).toEqual(events.map((e) => e.id));
  expect(read.map((row) => row.revision)).toEqual(events.map((_, place) => place));
  const bodies = events.map((e) =>
    z.object({ proof_hash: z.string() }).parse(JSON.parse(new TextDecoder().decode(e.data))),
  );
  expect(read.map((row) => row.proof_hash.toString('hex'))).toEqual(bodies.map((body) => body.proof_hash));
});

test('stores nothing of an event that names another site than its stream', async () => {
  const [site, other] = [randomUUID(), randomUUID()];
  const [foreign, ofOther] = [newConsent(other), newConsent(other)];
  await append(other, [ofOther, newErasure(other, ofOther.id)]);
  await append(site, [foreign, newErasure(other, ofOther.id), ...consentsOf(site, 1)]);
  await whileRunning([projector()], () => until(upToDate));
  expect([await rowsOf(site), await rowsOf(other)]).toEqual([1, 1]);
  expect(await count(pipeline.owner, 'read_model.erasures where site_id = $1', [other])).toBe(1);
  expect(
    (await rebuildProjection({ ...pipeline, db: pipeline.projections, projection: consents, isFollowed: true }))
      .comparison,
  ).toMatchObject([{ equal: true }, { equal: true }]);
});

test('marks exactly the records that erasures name', async () => {
  const site = randomUUID();
  const events = consentsOf(site, 5);
  const erased = events.slice(1, 3).map((e) => e.id);
  await append(site, events);
  await append(
    site,
    erased.map((id) => newErasure(site, id)),
  );
  await whileRunning([projector()], () => until(() => upToDate()));
  const { rows } = await pipeline.owner.query(
    'select event_id, erased_by from read_model.consents where site_id = $1 and erased_by is not null',
    [site],
  );
  expect(rows).toEqual(expect.arrayContaining(erased.map((id, place) => ({ event_id: id, erased_by: 5 + place }))));
  expect(rows.length).toBe(2);
});

test('continues after an erasure of a record that the log lacks', async () => {
  const site = randomUUID();
  const [kept] = consentsOf(site, 1);
  if (kept === undefined) throw new Error('no event');
  await append(site, [kept, newErasure(site, randomUUID()), newErasure(site, kept.id)]);
  await whileRunning([projector()], () => until(() => upToDate()));
  expect(await count(pipeline.owner, 'read_model.consents where site_id = $1 and erased_by = 2', [site])).toBe(1);
});

test('lists a stopped projection, and a rebuild replays to the end of the log or fails', async () => {
  const site = randomUUID();
  const counted: Projection = {
    name: 'counted',
    version: 1,
    tables: {
      counted: { columns: { id: { type: 'uuid', nullable: false } }, primaryKey: ['id'], indexes: [] },
    },
    on: {
      'ConsentRecorded.v1': (e) =>
        e.stream === consentsStream(site) ? [{ kind: 'insert', table: 'counted', row: { id: e.id } }] : [],
    },
    ignores: [...dailyCounts.ignores],
  };
  const fragile: Projection = {
    ...counted,
    on: {
      'ConsentRecorded.v1': (e) => {
        if (e.stream === consentsStream(site) && e.revision === 2) throw new Error('cannot do this one');
        return counted.on['ConsentRecorded.v1']?.(e) ?? [];
      },
    },
  };
  const { projections: pool, eventLog } = pipeline;
  await append(site, consentsOf(site, 6));
  expect(await stoppedProjections(pool, [fragile])).toEqual([]);
  await whileRunning([projector([fragile])], () =>
    until(async () => (await stoppedProjections(pool, [fragile])).length === 1),
  );
  expect(await listProjections(pool, [knownProjection(fragile, 'service')])).toMatchObject([
    { name: 'counted', state: 'stopped', problem: { reason: 'cannot do this one' } },
  ]);
  await expect(rebuildProjection({ db: pool, eventLog, projection: fragile, isFollowed: false })).rejects.toThrow(
    'cannot do this one',
  );
  expect(await stoppedProjections(pool, [fragile])).toEqual(['counted']);
  expect(await count(pipeline.owner, 'read_model.counted')).toBe(2);

  expect(
    (await rebuildProjection({ db: pool, eventLog, projection: counted, isFollowed: false })).comparison,
  ).toBeNull();
  expect(await count(pipeline.owner, 'read_model.counted')).toBe(6);
  expect(await upToDate([counted])).toBe(true);
});

test('lets the API role read views, and only the projector role write them', async () => {
  const api = pipeline.newPool('consent_ledger_api');
  await expect(api.query('select 1 from read_model.consents limit 1')).resolves.toBeDefined();
  await expect(api.query('delete from read_model.consents')).rejects.toThrow('permission denied');
  await expect(pipeline.projections.query('select 1 from record_keys')).rejects.toThrow('permission denied');
});

test('applies each event once with two projectors and a kill at any moment', async () => {
  const site = randomUUID();
  await whileRunning([projector(), projector()], async () => {
    for (let round = 0; round < 10; round += 1) {
      await append(site, consentsOf(site, 50));
      await pipeline.owner.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'test' and pid <> pg_backend_pid()`,
      );
    }
    await until(async () => (await rowsOf(site)) === 500 && (await upToDate()));
  });
  const { rows } = await pipeline.owner.query(
    'select sum(consents)::int as n from read_model.daily_counts where site_id = $1',
    [site],
  );
  expect(rows).toEqual([{ n: 500 }]);
});

test('counts the decisions of a month by one property at a time, and opt-outs and objections by their type alone', async () => {
  const site = randomUUID();
  const optOut = { consent_type: 'do_not_sell_opt_out', categories: null, decision: 'accepted' } as const;
  const withdrawal = { decision: 'withdrawn', categories: { analytics: false, marketing: false } } as const;
  const objection = { consent_type: 'objection', categories: { analytics: false }, decision: 'rejected' } as const;
  const changes = [{}, { language: 'de', compliance_framework: null }, withdrawal, optOut, objection];
  await append(
    site,
    changes.map((change) => newConsent(site, change)),
  );
  await whileRunning([projector()], () => until(() => upToDate()));
  const { rows } = await pipeline.owner.query(
    `select concat_ws(' ', to_char(month, 'YYYY-MM-DD'), property, left(value, 19), decision, consents) as line
       from read_model.monthly_counts where site_id = $1 order by 1`,
    [site],
  );
  expect(rows.map(({ line }) => line)).toEqual([
    '2026-11-01 category analytics accepted 2',
    '2026-11-01 category marketing rejected 2',
    '2026-11-01 channel s2s partial 2',
    '2026-11-01 channel s2s withdrawn 1',
    '2026-11-01 framework kvkk partial 1',
    '2026-11-01 framework kvkk withdrawn 1',
    '2026-11-01 framework unknown partial 1',
    '2026-11-01 language de partial 1',
    '2026-11-01 language tr partial 1',
    '2026-11-01 language tr withdrawn 1',
    '2026-11-01 type cookie partial 2',
    '2026-11-01 type cookie withdrawn 1',
    '2026-11-01 type do_not_sell_opt_out accepted 1',
    '2026-11-01 type objection rejected 1',
    '2026-11-01 version cdcdcdcdcdcdcdcdcdc partial 2',
    '2026-11-01 version cdcdcdcdcdcdcdcdcdc withdrawn 1',
  ]);
});

test('applies a page once where two projectors are at the same place', async () => {
  const site = randomUUID();
  const { projections: db, eventLog } = pipeline;
  await whileRunning([projector()], () => until(() => upToDate()));
  const { rows } = await db.query(
    `select generation, position from projection_generations join projections using (name)
      where name = 'daily_counts' and generation = live_generation`,
  );
  const [{ generation, position }] = z
    .tuple([z.object({ generation: z.int(), position: z.string().nullable() })])
    .parse(rows);
  await append(site, consentsOf(site, 3));
  const { events } = await eventLog.readAll(position, 3);
  const apply = () =>
    applyPage(
      { db, projection: dailyCounts, generation, isLive: true },
      position,
      preparePage(dailyCounts, position, events, events.at(-1)?.position ?? ''),
    );
  const both = await Promise.allSettled([apply(), apply()]);
  expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: expect.any(GenerationMoved) });
  expect(await count(pipeline.owner, `read_model.daily_counts where site_id = '${site}' and consents = 3`)).toBe(1);
});

test('stops only the projection that does not know an event, and a rebuild with a fixed definition continues', async () => {
  const site = randomUUID();
  const stream = consentsStream(site);
  const fragile: Projection = {
    ...dailyCounts,
    name: 'fragile',
    tables: { fragile: dailyCounts.tables.daily_counts ?? { columns: {}, primaryKey: [], indexes: [] } },
    on: {
      'ConsentRecorded.v1': (e) => {
        if (e.stream === stream && e.revision === 3) throw new Error('cannot do this one');
        return [];
      },
    },
  };
  await append(site, consentsOf(site, 6));
  await whileRunning([projector([...PROJECTIONS, fragile])], async () => {
    await until(async () => (await upToDate()) && (await statusOf([fragile]))[0]?.state === 'stopped');
    const [status] = await statusOf([fragile]);
    expect(status?.problem).toMatchObject({ reason: 'cannot do this one', event: { stream, revision: 3 } });
    expect(await rowsOf(site)).toBe(6);
  });
  const mended: Projection = { ...fragile, version: fragile.version + 1, on: { 'ConsentRecorded.v1': () => [] } };
  await whileRunning([projector([mended])], () => until(() => upToDate([mended])));
});

test('applies all events before one that the database refuses, then stops the projection', async () => {
  const site = randomUUID();
  const strict: Projection = {
    name: 'strict',
    version: 1,
    tables: {
      strict: {
        columns: { id: { type: 'uuid', nullable: false }, small: { type: 'integer', nullable: false } },
        primaryKey: ['id'],
        indexes: [],
      },
    },
    on: {
      'ConsentRecorded.v1': (e) =>
        e.stream === consentsStream(site)
          ? [{ kind: 'insert', table: 'strict', row: { id: e.id, small: e.revision === 4 ? 2 ** 40 : e.revision } }]
          : [],
    },
    ignores: [...dailyCounts.ignores],
  };
  await append(site, consentsOf(site, 9));
  await whileRunning([projector([strict])], () =>
    until(async () => (await statusOf([strict]))[0]?.state === 'stopped'),
  );
  expect(await count(pipeline.owner, 'read_model.strict')).toBe(4);
  const [status] = await statusOf([strict]);
  expect(status?.problem?.event?.revision).toBe(4);
  expect(status?.problem?.reason).toBe('the database refused it: 22003 at strict.small (integer)');
});

test('names the event or the row whose value is too wide for an index', async () => {
  const site = randomUUID();
  // Nothing in it repeats, so that it cannot be compressed.
  const wide = Array.from({ length: 200 }, () => randomUUID()).join('');
  const projection = (name: string, isUnique: boolean): Projection => ({
    name,
    version: 1,
    tables: {
      [name]: {
        columns: { id: { type: 'uuid', nullable: false }, content: { type: 'text', nullable: false } },
        primaryKey: ['id'],
        indexes: [{ columns: ['content'], unique: isUnique }],
      },
    },
    on: {
      'ConsentRecorded.v1': (e) =>
        e.stream === consentsStream(site)
          ? [{ kind: 'insert', table: name, row: { id: e.id, content: e.revision === 2 ? wide : `short${e.id}` } }]
          : [],
    },
    ignores: '*',
  });
  const events = consentsOf(site, 4);
  await append(site, events);
  const { eventLog, projections: db } = pipeline;
  const atEnd = rebuildProjection({
    db,
    eventLog,
    projection: projection('wide_last', false),
    isFollowed: false,
  });
  await expect(atEnd).rejects.toThrow(
    `a row of wide_last, the one with id = ${events[2]?.id} has values in content that are too wide for an index`,
  );
  await expect(atEnd).rejects.not.toThrow(wide.slice(0, 36));
  const atOnce = projection('wide_first', true);
  await prepareProjections(pipeline.projections, [atOnce]);
  await whileRunning([projector([atOnce])], () =>
    until(async () => (await statusOf([atOnce]))[0]?.state === 'stopped'),
  );
  const [status] = await statusOf([atOnce]);
  expect(status?.problem).toMatchObject({
    reason: 'the database refused it: 54000 at wide_first (constraint wide_first$1)',
    event: { revision: 2 },
  });
});

test('rebuilds an equal read model beside the live one, without a gap for readers', async () => {
  const site = randomUUID();
  const events = consentsOf(site, 3_000);
  await append(site, events.slice(0, 2_000));
  const indexesBefore = await indexesOf('consents');
  expect(indexesBefore).toHaveLength(4);
  await whileRunning([projector()], async () => {
    await until(async () => (await rowsOf(site)) === 2_000);
    let least = Number.POSITIVE_INFINITY;
    let done = false;
    const reading = (async () => {
      while (!done) least = Math.min(least, await rowsOf(site));
    })();
    const writing = (async () => {
      for (let at = 2_000; at < 3_000; at += 100) await append(site, events.slice(at, at + 100));
    })();
    const seen: number[] = [];
    const { projections: pool, eventLog } = pipeline;
    const result = await rebuildProjection({
      db: pool,
      eventLog,
      projection: consents,
      isFollowed: true,
      onProgress: (n) => seen.push(n),
    });
    await writing;
    await until(async () => (await rowsOf(site)) === 3_000);
    done = true;
    await reading;
    expect(result.comparison).toMatchObject([
      { table: 'consents', equal: true },
      { table: 'erasures', equal: true },
    ]);
    expect(result.comparison?.[0]?.rows).toBeGreaterThanOrEqual(2_000);
    expect(seen.at(-1)).toBe(result.events);
    expect(least).toBeGreaterThanOrEqual(2_000);
  });
  const { rows } = await pipeline.owner.query(
    `select nspname from pg_namespace where nspname like 'rm\\_consents\\_%'`,
  );
  expect(rows.length).toBe(1);
  expect(await indexesOf('consents')).toEqual(indexesBefore);
});

test('a rebuild gives way in its first replay only, so that it reaches a log that grows', async () => {
  const site = randomUUID();
  const events = consentsOf(site, 2_600);
  await append(site, events.slice(0, 1_400));
  await whileRunning([projector()], async () => {
    await until(async () => (await rowsOf(site)) === 1_400);
    const [before] = await statusOf([consents]);
    let progress = 0;
    const gaveWayAt: number[] = [];
    const { projections: db, eventLog } = pipeline;
    const { events: replayed } = await rebuildProjection({
      db,
      eventLog,
      projection: consents,
      isFollowed: true,
      onProgress: (events) => {
        progress = events;
      },
      yieldToAdmission: async () => {
        if (gaveWayAt.length === 0) await append(site, events.slice(1_400));
        gaveWayAt.push(progress);
        await until(async () => (await rowsOf(site)) === 2_600);
      },
    });
    expect(gaveWayAt.length).toBeGreaterThanOrEqual(2);
    expect(gaveWayAt.at(-1)).toBeLessThan(before?.events ?? 0);
    expect(replayed).toBe((before?.events ?? 0) + 1_200);
  });
});

test('a rebuild that must reach the end of the log never gives way', async () => {
  await append(randomUUID(), consentsOf(randomUUID(), 1_100));
  const { projections: db, eventLog } = pipeline;
  const newer = { ...consents, version: consents.version + 1 };
  let rests = 0;
  const { events, comparison } = await compareProjection({
    db,
    eventLog,
    projection: newer,
    isFollowed: false,
    yieldToAdmission: async () => {
      rests += 1;
    },
  });
  expect({ comparison, rests }).toEqual({ comparison: null, rests: 0 });
  expect(events).toBeGreaterThanOrEqual(1_100);
});

test('finds a row that was changed, deleted or added by hand when comparing', async () => {
  const { projections: pool, eventLog } = pipeline;
  const compare = async () =>
    (await compareProjection({ db: pool, eventLog, projection: consents, isFollowed: true })).comparison;
  const last = (schema: string) => `event_id = (select max(event_id::text)::uuid from ${schema}.consents)`;
  const alterations: readonly (readonly [object, (schema: string) => string])[] = [
    [
      { kind: 'changed', columns: ['decision'] },
      (schema) => `update ${schema}.consents set decision = 'accepted' where ${last(schema)}`,
    ],
    [
      { kind: 'changed', columns: ['erased_by'] },
      (schema) => `update ${schema}.consents set erased_by = 4 where ${last(schema)}`,
    ],
    [
      { kind: 'changed', columns: ['categories'] },
      (schema) => `update ${schema}.consents set categories = '{"analytics": true}' where ${last(schema)}`,
    ],
    [{ kind: 'missing', columns: [] }, (schema) => `delete from ${schema}.consents where ${last(schema)}`],
    [
      { kind: 'missing', columns: [] },
      (schema) =>
        `delete from ${schema}.consents where event_id = (select min(event_id::text)::uuid from ${schema}.consents)`,
    ],
    [
      { kind: 'extra', columns: [] },
      (schema) =>
        `insert into ${schema}.consents select (jsonb_populate_record(c, jsonb_build_object('event_id', gen_random_uuid(), 'revision', -1))).*
         from ${schema}.consents c limit 1`,
    ],
  ];
  expect(await compare()).toMatchObject([{ equal: true }, { equal: true }]);
  for (const [difference, alteration] of alterations) {
    const { rows } = await pipeline.owner.query(
      `select 'rm_consents_' || live_generation as schema from projections where name = 'consents'`,
    );
    const [{ schema }] = z.tuple([z.object({ schema: z.string() })]).parse(rows);
    const altered = await pipeline.owner.query(alteration(schema));
    expect(altered.rowCount, alteration(schema)).toBe(1);
    const key = [expect.stringMatching(/^[0-9a-f-]{36}$/)];
    const differs = { equal: false, differences: [{ key, ...difference }] };
    expect(await compare(), alteration(schema)).toMatchObject([differs, { equal: true }]);
    expect(
      (await rebuildProjection({ db: pool, eventLog, projection: consents, isFollowed: true })).comparison,
    ).toMatchObject([{ equal: false }, { equal: true }]);
  }
  // Each rebuild has repaired what was altered.
  expect(await compare()).toMatchObject([{ equal: true }, { equal: true }]);
});

test('replays the example projection of the documentation', async () => {
  const site = randomUUID();
  await append(site, [
    newConsent(site),
    newConsent(site, { decision: 'withdrawn' }),
    newConsent(site, { language: 'en' }),
  ]);
  const example = await loadProjection('docs/examples/withdrawals-by-language.mjs');
  const { projections: pool, eventLog } = pipeline;
  for (let time = 0; time < 2; time += 1) {
    await rebuildProjection({ db: pool, eventLog, projection: example, isFollowed: false });
    const { rows } = await pipeline.owner.query(
      'select language, consents, withdrawals from read_model.withdrawals_by_language where site_id = $1 order by 1',
      [site],
    );
    expect(rows).toEqual([
      { language: 'en', consents: 1, withdrawals: 0 },
      { language: 'tr', consents: 1, withdrawals: 1 },
    ]);
  }
  await expect(loadProjection('docs/examples/nothing.mjs')).rejects.toThrow('cannot be loaded');
  await expect(loadProjection('vitest.config.ts')).rejects.toThrow();
});

/** A definition that counts the consents of a site, with what a test changes. */
function own(site: string, name: string, changes: Partial<Projection> = {}): Projection {
  return {
    name,
    version: 1,
    tables: {
      [name]: { columns: { id: { type: 'uuid', nullable: false } }, primaryKey: ['id'], indexes: [] },
    },
    on: {
      'ConsentRecorded.v1': (e) =>
        e.stream === consentsStream(site) ? [{ kind: 'insert', table: name, row: { id: e.id } }] : [],
    },
    ignores: '*',
    ...changes,
  };
}

const rebuildOwn = (projection: Projection) =>
  rebuildProjection({ db: pipeline.projections, eventLog: pipeline.eventLog, projection, isFollowed: false });

test('brings a projection from a file up to date with each rebuild, lists it, and removes it', async () => {
  const site = randomUUID();
  const mine = own(site, 'mine');
  for (let round = 1; round <= 3; round += 1) {
    await append(site, consentsOf(site, 4));
    const result = await rebuildOwn(mine);
    expect(result.comparison).toEqual(
      round === 1 ? null : [{ table: 'mine', equal: true, rows: 4 * (round - 1), differences: [] }],
    );
    expect(await count(pipeline.owner, 'read_model.mine')).toBe(4 * round);
    expect(await upToDate([mine])).toBe(true);
  }
  const found = async () =>
    (await fileProjections(pipeline.projections, PROJECTIONS)).filter(({ name }) => name === 'mine');
  expect(await found()).toEqual([{ name: 'mine', version: 1, views: ['mine'], source: 'file' }]);
  expect(await removeProjection(pipeline.projections, 'mine')).toBe(true);
  expect(await found()).toEqual([]);
  await expect(pipeline.owner.query('select from read_model.mine')).rejects.toThrow('does not exist');
  expect(await count(pipeline.owner, "pg_namespace where nspname like 'rm\\_mine\\_%'")).toBe(0);
  expect(await removeProjection(pipeline.projections, 'mine')).toBe(false);
});

test('makes a hash index of one column, and refuses one that is unique or of several', async () => {
  const digest = { type: 'bytea', nullable: false } as const;
  const table = (columns: readonly string[], unique: boolean) => ({
    columns: { id: { type: 'uuid', nullable: false }, digest },
    primaryKey: ['id'],
    indexes: [{ columns: [...columns], unique, method: 'hash' }],
  });
  expect(TableDefinition.safeParse(table(['digest'], false)).success).toBe(true);
  for (const wrong of [table(['digest'], true), table(['id', 'digest'], false)])
    expect(TableDefinition.safeParse(wrong).error?.issues).toMatchObject([
      { message: 'a hash index has one column and is not unique' },
    ]);
  expect(await indexesOf('consents')).toContainEqual({ indexname: 'consents$3', columns: ' USING hash (proof_hash)' });
});

test('compares tables whatever their columns and tables are called', async () => {
  const site = randomUUID();
  await append(site, consentsOf(site, 2));
  const columns = { a: { type: 'uuid', nullable: false }, b: { type: 'text', nullable: true } } as const;
  const table = { columns, primaryKey: ['a'], indexes: [{ columns: ['b'], unique: false }] };
  const named = own(site, 'named', {
    tables: { named: table, named_1: table, named_pkey: table },
    on: {
      'ConsentRecorded.v1': (e) =>
        e.stream === consentsStream(site) ? [{ kind: 'insert', table: 'named', row: { a: e.id, b: null } }] : [],
    },
  });
  await rebuildOwn(named);
  expect((await rebuildOwn(named)).comparison).toMatchObject([
    { table: 'named', equal: true, rows: 2 },
    { table: 'named_1', equal: true, rows: 0 },
    { table: 'named_pkey', equal: true, rows: 0 },
  ]);
  await removeProjection(pipeline.projections, 'named');
});

test('keeps the rights of other roles on a view, and views that read from it, over a rebuild', async () => {
  const site = randomUUID();
  await append(site, consentsOf(site, 2));
  const shared = own(site, 'shared');
  await rebuildOwn(shared);
  const role = `bi_${randomUUID().slice(0, 8)}`;
  const canRead = async (column: string) => {
    const { rows } = await pipeline.owner.query(
      "select has_column_privilege($1, 'read_model.shared', $2, 'select') as can",
      [role, column],
    );
    return z.tuple([z.object({ can: z.boolean() })]).parse(rows)[0].can;
  };
  await pipeline.owner.query(`create role ${role}; grant usage on schema read_model to ${role}`);
  try {
    await pipeline.owner.query(`grant select on read_model.shared to ${role}`);
    await pipeline.owner.query('create view public.report as select count(*) as n from read_model.shared');
    await append(site, consentsOf(site, 1));
    await rebuildOwn(shared);
    expect(await canRead('id')).toBe(true);
    expect((await pipeline.owner.query('select n::int from public.report')).rows).toEqual([{ n: 3 }]);

    const wider = own(site, 'shared', {
      version: 2,
      tables: {
        shared: {
          columns: { hidden: { type: 'text', nullable: true }, id: { type: 'uuid', nullable: false } },
          primaryKey: ['id'],
          indexes: [],
        },
      },
    });
    await expect(rebuildOwn(wider)).rejects.toThrow(
      /view report depends on view read_model.shared.* Drop those first/s,
    );
    await pipeline.owner.query('drop view public.report');
    await pipeline.owner.query(
      `revoke select on read_model.shared from ${role}; grant select (id) on read_model.shared to ${role}`,
    );
    await rebuildOwn(wider);
    expect([await canRead('id'), await canRead('hidden')]).toEqual([true, false]);
    expect(await count(pipeline.newPool('consent_ledger_api'), 'read_model.shared')).toBe(3);
  } finally {
    await pipeline.owner.query(`drop view if exists public.report; drop owned by ${role}; drop role ${role}`);
    await removeProjection(pipeline.projections, 'shared');
  }
});

test('names every missing type, the column that refuses a value, and a column that changed without the version', async () => {
  const site = randomUUID();
  await append(site, consentsOf(site, 1));
  const refusal = async (projection: Projection): Promise<string> => {
    try {
      await rebuildOwn(projection);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    throw new Error('the rebuild did not fail');
  };
  const narrow = await refusal(own(site, 'narrow', { on: {}, ignores: ['SubjectErased.v1'] }));
  expect(narrow).toContain('neither handles nor ignores events of type ConsentRecorded.v1');
  for (const type of dailyCounts.ignores) expect(narrow.includes(type), type).toBe(type !== 'SubjectErased.v1');

  const strange = (value: string | null) =>
    own(site, 'strange', {
      tables: {
        strange: {
          columns: { id: { type: 'uuid', nullable: false }, day: { type: 'date', nullable: false } },
          primaryKey: ['id'],
          indexes: [],
        },
      },
      on: {
        'ConsentRecorded.v1': (e) =>
          e.stream === consentsStream(site)
            ? [{ kind: 'insert', table: 'strange', row: { id: e.id, day: value } }]
            : [],
      },
    });
  expect(await refusal(strange('someday'))).toContain('22007 at strange.day (date)');
  expect(await refusal(strange(null))).toContain('23502 at strange.day');
  await rebuildOwn(strange('2026-01-01'));
  const { columns: _, ...table } = strange('').tables.strange ?? { columns: {}, primaryKey: ['id'], indexes: [] };
  const other = {
    strange: { ...table, columns: { id: { type: 'uuid', nullable: false }, night: { type: 'date', nullable: true } } },
  } as const;
  expect(await refusal({ ...strange(''), tables: other })).toMatch(
    /other columns: strange\.day, strange\.night\. Raise `version`/,
  );
  await removeProjection(pipeline.projections, 'strange');
});

test('stops every projection at a ledger event of unknown type', async () => {
  await pipeline.eventLog.append(LEDGER_STREAM, -1, [event(randomUUID(), 'Surprise.v1', {})]);
  await whileRunning([projector()], () =>
    until(async () => (await statusOf(PROJECTIONS)).every((status) => status.state === 'stopped')),
  );
});
