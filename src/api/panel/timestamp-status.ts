import * as z from 'zod';
import type { TimestampStatusResponse } from '../../../schemas/api/panel/timestamps.js';
import { consentsStream, noticesStream, siteOfStream } from '../../../schemas/events/streams.js';
import type { Config } from '../../platform/config/index.js';
import type { Queryable } from '../../platform/database/pool.js';
import { authorityName, DEVELOPMENT_AUTHORITY, isDevelopmentStamp, stampedBy } from '../../timestamping/authorities.js';

/** The streams of a tenant's sites. */
export interface OwnStreams {
  readonly consents: readonly string[];
  readonly notices: readonly string[];
}

/** The streams of every site of a tenant. */
export async function ownStreams(db: Queryable, tenantId: string): Promise<OwnStreams> {
  const { rows } = await db.query('select id from sites where tenant_id = $1 order by id', [tenantId]);
  const ids = z.array(z.object({ id: z.string() })).parse(rows);
  return { consents: ids.map(({ id }) => consentsStream(id)), notices: ids.map(({ id }) => noticesStream(id)) };
}

/**
 * How far streams are sealed in the Merkle batches below a number: for each stream, the last sealed revision and its
 * batch.
 */
export type SealedBelow = ReadonlyMap<string, { readonly revision: number; readonly batch: number }>;

const FoundRows = z.array(z.object({ stream: z.string(), revision: z.int(), batch: z.int() }));

/**
 * Finds how far streams are sealed by a binary search in each stream, which works because revisions are gapless and
 * later ones are in later batches. The time therefore does not depend on how many records other tenants have.
 * @param batch only Merkle batches below this number are considered; null permits all
 * @returns an entry for each stream that has a sealed event
 */
export async function sealedBelow(
  db: Queryable,
  { consents, notices }: OwnStreams,
  batch: number | null,
): Promise<SealedBelow> {
  const { rows } = await db.query(
    `with recursive search (number, stream, low, high) as (
       select number, stream, -1::bigint, revision from sealed_streams where stream = any($1)
       union all
       select s.number, s.stream,
              case when $2::bigint is null or e.batch < $2 then e.revision else s.low end,
              case when $2::bigint is null or e.batch < $2 then s.high else e.revision - 1 end
         from search s
         join sealed_events e on e.stream = s.number
          and e.revision = case when $2::bigint is null then s.high else (s.low + s.high + 1) / 2 end
        where s.low < s.high)
     select f.stream, e.revision, e.batch
       from search f join sealed_events e on e.stream = f.number and e.revision = f.high
      where f.low = f.high`,
    [[...consents, ...notices], batch],
  );
  return new Map(
    FoundRows.parse(rows).map(({ stream, revision, batch: found }) => [stream, { revision, batch: found }]),
  );
}

/** A Merkle batch that holds entries of some streams. */
export interface OwnBatch {
  readonly number: number;
  readonly entries: { readonly consents: number; readonly notices: number };
}

/**
 * Reads the Merkle batches that hold entries of these streams, newest first.
 * @param below only batches below this number are read; null permits all
 */
export async function ownBatches(
  db: Queryable,
  streams: OwnStreams,
  below: number | null,
  limit: number,
): Promise<OwnBatch[]> {
  const batches: OwnBatch[] = [];
  let sealed = await sealedBelow(db, streams, below);
  while (batches.length < limit && sealed.size > 0) {
    const number = Math.max(...[...sealed.values()].map(({ batch }) => batch));
    const before = await sealedBelow(db, streams, number);
    batches.push({
      number,
      entries: { consents: added(streams.consents, sealed, before), notices: added(streams.notices, sealed, before) },
    });
    sealed = before;
  }
  return batches;
}

function added(streams: readonly string[], sealed: SealedBelow, before: SealedBelow): number {
  return streams.reduce(
    (sum, stream) => sum + (sealed.get(stream)?.revision ?? -1) - (before.get(stream)?.revision ?? -1),
    0,
  );
}

type Status = z.infer<typeof TimestampStatusResponse>['data'];

const StampRows = z
  .array(z.object({ size: z.int(), gen_time: z.date(), authorities: z.array(z.string()), is_development: z.boolean() }))
  .max(1);
const LogRows = z.array(z.object({ stream: z.string(), revision: z.int() }));
const WaitingRows = z.tuple([z.object({ waiting: z.int(), oldest: z.date().nullable(), now: z.date() })]);
const OldestRows = z.tuple([z.object({ oldest: z.date().nullable() })]);

/** Counts the tenant's events that are not sealed or not stamped yet, and names the installation's authorities. */
export async function timestampStatus(db: Queryable, config: Config, tenantId: string): Promise<Status> {
  const streams = await ownStreams(db, tenantId);
  const stamps = await db.query(
    `select size, gen_time, authorities, ${isDevelopmentStamp('c')} as is_development
       from checkpoints c order by size desc limit 1`,
  );
  const [last] = StampRows.parse(stamps.rows);
  const sealed = await sealedBelow(db, streams, null);
  const stamped = await sealedBelow(db, streams, last?.size ?? 0);
  const logged = await revisionsInLog(db, streams);
  const { waiting, oldest, now } = await waitingForLog(db, tenantId);
  const oldestInLog = await oldestConsentBehind(db, streams, (stream) => stamped.get(stream)?.revision ?? -1);
  const times = [oldest, oldestInLog].flatMap((time) => time?.getTime() ?? []);
  return {
    unstamped_age_seconds: times.length === 0 ? null : Math.max(0, (now.getTime() - Math.min(...times)) / 1000),
    unsealed_entries: waiting + missing(logged, sealed),
    unstamped_entries: waiting + missing(logged, stamped),
    last_stamp: last ? { size: last.size, gen_time: last.gen_time.toISOString(), authorities: stampedBy(last) } : null,
    authorities: config.timestamping?.urls.map(authorityName) ?? [DEVELOPMENT_AUTHORITY],
    is_development: config.timestamping === undefined,
  };
}

function missing(
  logged: ReadonlyMap<string, number>,
  done: ReadonlyMap<string, { readonly revision: number }>,
): number {
  let count = 0;
  for (const [stream, revision] of logged) count += Math.max(0, revision - (done.get(stream)?.revision ?? -1));
  return count;
}

async function revisionsInLog(db: Queryable, { consents, notices }: OwnStreams): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query('select stream, revision from event_log.logged_streams where stream = any($1)', [
    [...consents, ...notices],
  ]);
  return new Map(LogRows.parse(rows).map(({ stream, revision }) => [stream, revision]));
}

/** Counts the events in the outbox. `oldest` is the time of the oldest consent among them. */
async function waitingForLog(db: Queryable, tenantId: string): Promise<z.infer<typeof WaitingRows>[0]> {
  const { rows } = await db.query(
    `select coalesce(sum(w.count), 0)::int as waiting, min(w.created_at) filter (where t.name like 'consents-%') as oldest, now() as now
       from sites s join event_log.waiting w on w.site_id = s.id join event_log.streams t on t.number = w.stream
      where s.tenant_id = $1`,
    [tenantId],
  );
  return WaitingRows.parse(rows)[0];
}

async function oldestConsentBehind(
  db: Queryable,
  { consents }: OwnStreams,
  revisionOf: (stream: string) => number,
): Promise<Date | null> {
  const { rows } = await db.query(
    `select min(first.created_at) as oldest
       from unnest($1::uuid[], $2::bigint[]) as s (site_id, revision)
      cross join lateral (select created_at from read_model.consents c
                           where c.site_id = s.site_id and c.revision > s.revision order by c.revision limit 1) first`,
    [consents.map(siteOfStream), consents.map(revisionOf)],
  );
  return OldestRows.parse(rows)[0].oldest;
}
