import pg from 'pg';
import * as z from 'zod';
import { type CopiedRow, copiedRows } from '../../platform/database/copied-rows.js';
import { int4Array, int8Array, int8Literal, uuidArray, uuidArrayLiteral } from '../../platform/database/parameters.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { NewEvent } from '../event-log/port.js';

/** A row of `event_log.waiting`: events at consecutive revisions that one transaction wrote. */
export interface WaitingRow {
  readonly siteId: string;
  /** Position in the order of the site. */
  readonly number: number;
  readonly stream: string;
  /** Number of the stream in the database. */
  readonly streamNumber: number;
  /** Revision of the first event. */
  readonly revision: number;
  /** Number of events according to the row. */
  readonly count: number;
  readonly events: readonly NewEvent[];
}

const NO_METADATA = new Uint8Array(0);

const siteRows = z.array(z.object({ site_id: z.string(), is_quarantined: z.boolean() }));
const revisionRows = z.array(z.object({ stream: z.string(), revision: z.int() }));

/** No site has this id, and the id of every site is greater. */
export const BEFORE_ALL_SITES = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the next sites with waiting events after a site, in order, without quarantined sites.
 * @param after site after which to start, or `BEFORE_ALL_SITES`
 * @param limit maximum number of sites, including quarantined ones
 * @returns `last`: the site after which to continue, or null after the last site. `areNone`: no site after `after` has
 * waiting events, not even a quarantined one
 */
export async function sitesWaiting(
  db: Queryable,
  after: string,
  limit: number,
): Promise<{ readonly siteIds: readonly string[]; readonly last: string | null; readonly areNone: boolean }> {
  const { rows } = await db.query({
    name: 'relay_sites_waiting',
    text: `
      select site_id, exists (select from quarantined_sites q where q.site_id = w.site_id) as is_quarantined
        from event_log.waiting_sites($1, $2) w order by site_id`,
    values: [after, limit],
  });
  const found = siteRows.parse(rows);
  return {
    siteIds: found.filter((row) => !row.is_quarantined).map((row) => row.site_id),
    last: found.length < limit ? null : (found.at(-1)?.site_id ?? null),
    areNone: found.length === 0,
  };
}

export interface PageLimits {
  /** Maximum number of events, shared among the sites. Each site gets at least its first row. */
  readonly maxEvents: number;
  /** Maximum total size of the bodies of one site; its first row is returned at any size. */
  readonly maxSiteBytes: number;
  /** Maximum total size of all bodies; the first row is returned at any size. */
  readonly maxBytes: number;
}

/** Returns the largest number of events that each site of a page gets in addition to its first row. */
export function sharePerSite({ maxEvents }: PageLimits, sites: number): number {
  return Math.ceil(maxEvents / sites);
}

/** The first waiting rows of sites. */
export interface Waiting {
  readonly rows: readonly WaitingRow[];
  /** Rows with an event that the database lacks. */
  readonly withoutEvents: readonly Pick<WaitingRow, 'number' | 'siteId'>[];
}

/**
 * Returns the first committed waiting rows of sites, in the order of each site. There is no high-water mark, because
 * across sites numbers are not assigned in commit order.
 */
export async function takeWaiting(db: Queryable, siteIds: readonly string[], limits: PageLimits): Promise<Waiting> {
  if (siteIds.length === 0) return { rows: [], withoutEvents: [] };
  const found = await copiedRows(db, firstWaitingSql(siteIds, limits), copiedEvent);
  const rows: (WaitingRow & { readonly events: NewEvent[] })[] = [];
  for (const { event, ...place } of found) {
    const current = rows.at(-1);
    const row = current?.number === place.number ? current : { ...place, events: [] };
    if (row !== current) rows.push(row);
    if (event !== null) row.events.push(event);
  }
  return {
    rows: rows.filter(({ events, count }) => events.length === count),
    withoutEvents: rows.filter(({ events, count }) => events.length !== count),
  };
}

/** Bodies are read by key after the rows are chosen. Otherwise the planner would read the whole table. */
function firstWaitingSql(siteIds: readonly string[], limits: PageLimits): string {
  const { maxSiteBytes, maxBytes } = limits;
  const share = sharePerSite(limits, siteIds.length);
  return `
    select chosen.site_id, chosen.number, s.name, chosen.stream, chosen.revision, chosen.count, e.id, e.type, e.data from (
      select * from (
        select *, sum(bytes) over (partition by site_id order by number) as site_bytes,
               sum(count) over (partition by site_id order by number) as site_events,
               sum(bytes) over (order by place, number) as all_bytes, row_number() over (order by place, number) as turn
          from (
            select *, row_number() over (partition by site_id order by number) as place
              from event_log.first_waiting(${uuidArrayLiteral(siteIds)}, ${share})
          ) as first_rows
      ) as sized
      where ((site_bytes <= ${int8Literal(maxSiteBytes)} and site_events <= ${share}) or place = 1)
        and (all_bytes <= ${int8Literal(maxBytes)} or turn = 1)
    ) as chosen
    join lateral (select name from event_log.streams t where t.number = chosen.stream limit 1) as s on true
    left join lateral (
      select revision, id, type, data from event_log.events o
       where o.stream = chosen.stream and o.revision between chosen.revision and chosen.revision + chosen.count - 1
       order by o.revision offset 0
    ) as e on true
    order by chosen.number, e.revision`;
}

function copiedEvent(row: CopiedRow) {
  const siteId = row.uuid();
  const number = row.int8();
  const stream = row.text();
  const streamNumber = row.int4();
  const revision = row.int8();
  const count = row.int4();
  const id = row.orNull((row) => row.uuid());
  const type = row.orNull((row) => row.text());
  const data = row.orNull((row) => row.bytea());
  const event = id === null || type === null || data === null ? null : { id, type, data, metadata: NO_METADATA };
  return { siteId, number, stream, streamNumber, revision, count, event };
}

/** Returns the last revision of the stream that the log has, as far as the database knows, or -1 if there are none. */
export async function loggedRevision(db: Queryable, stream: string): Promise<number> {
  return (await loggedRevisions(db, [stream])).get(stream) ?? -1;
}

/**
 * Returns the last revisions of the streams that the log has, as far as the database knows, without streams that have
 * none.
 */
export async function loggedRevisions(db: Queryable, streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query({
    name: 'relay_logged_revisions',
    text: 'select stream, revision from event_log.logged_streams where stream = any($1::text[])',
    values: [streams],
  });
  return new Map(revisionRows.parse(rows).map((row) => [row.stream, row.revision]));
}

/** Another process moved events of these streams to the log, so what this relay read is outdated. */
export class StreamMoved extends Error {
  override readonly name = 'StreamMoved';
}

/** SQLSTATE with which the functions of `event_log` answer that another process was first. */
const SERIALIZATION_FAILURE = '40001';

/** @throws StreamMoved if another process was first; otherwise the error of `work` */
export async function orMoved<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== SERIALIZATION_FAILURE) throw error;
    throw new StreamMoved(error.message, { cause: error });
  }
}

/** The first events of a waiting row. */
export type FirstEvents = Pick<WaitingRow, 'siteId' | 'number' | 'revision' | 'count'>;

/** Returns the rows that the first `count` events of consecutive rows belong to. */
export function firstEventsOf(rows: readonly FirstEvents[], count: number): FirstEvents[] {
  let left = count;
  return rows.flatMap((row) => {
    const taken = Math.min(left, row.count);
    left -= taken;
    return taken === 0 ? [] : [{ ...row, count: taken }];
  });
}

/**
 * Records that another log has the first events of rows.
 * @throws StreamMoved if a row is no longer waiting as stated; nothing is recorded then
 */
export async function markRelayed(db: Queryable, rows: readonly FirstEvents[]): Promise<void> {
  await orMoved(() =>
    db.query({
      name: 'relay_mark',
      text: 'select event_log.relayed($1::uuid[], $2::bigint[], $3::bigint[], $4::integer[])',
      values: [
        uuidArray(rows.map(({ siteId }) => siteId)),
        int8Array(rows.map(({ number }) => number)),
        int8Array(rows.map(({ revision }) => revision)),
        int4Array(rows.map(({ count }) => count)),
      ],
    }),
  );
}
