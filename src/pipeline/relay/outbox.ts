import pg from 'pg';
import { z } from 'zod';
import { int4Array, int8Array, textArray, uuidArray } from '../../platform/database/binary-arrays.js';
import { type CopiedRow, copiedRows } from '../../platform/database/copied-rows.js';
import type { Queryable } from '../../platform/database/pool.js';
import { int8Literal, uuidArrayLiteral } from '../../platform/database/sql-literals.js';
import type { NewEvent } from '../event-log/port.js';

/** A stored event that waits for the log. */
export interface OutboxRow {
  readonly seq: number;
  readonly siteId: string;
  readonly stream: string;
  readonly event: NewEvent;
}

const NO_METADATA = new Uint8Array(0);

const outboxRow = z
  .object({
    seq: z.int(),
    site_id: z.string(),
    stream: z.string(),
    event_id: z.string(),
    type: z.string(),
    body: z.instanceof(Uint8Array),
  })
  .transform(
    (row): OutboxRow => ({
      seq: row.seq,
      siteId: row.site_id,
      stream: row.stream,
      event: { id: row.event_id, type: row.type, data: row.body, metadata: NO_METADATA },
    }),
  );
const outboxRows = z.array(outboxRow);

const siteRows = z.array(z.object({ site_id: z.string(), is_quarantined: z.boolean() }));
const revisionRows = z.array(z.object({ stream: z.string(), revision: z.int() }));
const recordedRow = z.tuple([z.object({ recorded: z.array(z.boolean()) })]);

/** No site has this id; every other one is greater. */
export const BEFORE_ALL_SITES = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the next sites with waiting rows after a site, in order, without quarantined sites.
 * @param after site after which to start, or `BEFORE_ALL_SITES`
 * @param limit maximum number of sites, quarantined ones included
 * @returns `last`: the site after which to continue; null after the last site
 */
export async function sitesWaiting(
  db: Queryable,
  after: string,
  limit: number,
): Promise<{ readonly siteIds: readonly string[]; readonly last: string | null }> {
  const { rows } = await db.query({
    name: 'relay_sites_waiting',
    text: `
      select site_id, exists (select from quarantined_sites q where q.site_id = w.site_id) as is_quarantined
        from waiting_sites($1, $2) w order by site_id`,
    values: [after, limit],
  });
  const found = siteRows.parse(rows);
  return {
    siteIds: found.filter((row) => !row.is_quarantined).map((row) => row.site_id),
    last: found.length < limit ? null : (found.at(-1)?.site_id ?? null),
  };
}

export interface PageLimits {
  /** Maximum number of rows, shared among the sites; each site gets at least one. */
  readonly maxRows: number;
  /** Maximum total size of the bodies of one site; its first row is returned at any size. */
  readonly maxSiteBytes: number;
  /** Maximum total size of all bodies; the first row is returned at any size. */
  readonly maxBytes: number;
}

/** Returns the number of rows that each of the sites of a page gets at most. */
export function sharePerSite({ maxRows }: PageLimits, sites: number): number {
  return Math.ceil(maxRows / sites);
}

/** The first waiting rows of sites. */
export interface WaitingRows {
  readonly rows: readonly OutboxRow[];
  /** Rows that wait although the outbox does not have their event. */
  readonly withoutEvent: readonly Pick<OutboxRow, 'seq' | 'siteId'>[];
}

/**
 * Returns the first waiting rows of sites that are committed now, in the order of each site. There
 * is no high-water mark, because sequence numbers are not assigned in commit order.
 */
export async function takeWaiting(db: Queryable, siteIds: readonly string[], limits: PageLimits): Promise<WaitingRows> {
  if (siteIds.length === 0) return { rows: [], withoutEvent: [] };
  const found = await copiedRows(db, firstWaitingSql(siteIds, limits), copiedRow);
  const rows: OutboxRow[] = [];
  const withoutEvent: Pick<OutboxRow, 'seq' | 'siteId'>[] = [];
  for (const { seq, siteId, stream, event } of found) {
    if (stream === null || event === null) withoutEvent.push({ seq, siteId });
    else rows.push({ seq, siteId, stream, event });
  }
  return { rows, withoutEvent };
}

/** The bodies are read after the choice, by their keys: the planner would read the whole table. */
function firstWaitingSql(siteIds: readonly string[], limits: PageLimits): string {
  const { maxSiteBytes, maxBytes } = limits;
  return `
    select chosen.seq, chosen.site_id, e.stream, e.event_id, e.type, e.body from (
      select seq, site_id from (
        select *, sum(size) over (partition by site_id order by seq) as site_bytes,
               sum(size) over (order by place, seq) as bytes, row_number() over (order by place, seq) as turn
          from (
            select *, row_number() over (partition by site_id order by seq) as place
              from first_waiting(${uuidArrayLiteral(siteIds)}, ${sharePerSite(limits, siteIds.length)})
          ) as first_rows
      ) as sized
      where (site_bytes <= ${int8Literal(maxSiteBytes)} or place = 1) and (bytes <= ${int8Literal(maxBytes)} or turn = 1)
    ) as chosen left join lateral (
      select stream, event_id, type, body from outbox o where o.seq = chosen.seq offset 0
    ) as e on true
    order by chosen.seq`;
}

function copiedRow(row: CopiedRow) {
  const [seq, siteId] = [row.int8(), row.uuid()];
  const stream = row.orNull((row) => row.text());
  const id = row.orNull((row) => row.uuid());
  const type = row.orNull((row) => row.text());
  const data = row.orNull((row) => row.bytea());
  const hasEvent = id !== null && type !== null && data !== null;
  return { seq, siteId, stream, event: hasEvent ? { id, type, data, metadata: NO_METADATA } : null };
}

/** Returns the waiting rows of the site with these event ids. */
export async function findWaiting(
  db: Queryable,
  siteId: string,
  eventIds: readonly string[],
): Promise<Map<string, OutboxRow>> {
  const { rows } = await db.query(
    `select o.seq, w.site_id, o.stream, o.event_id, o.type, o.body
       from outbox_waiting w join outbox o on o.seq = w.seq
      where w.site_id = $1 and o.event_id = any($2::uuid[])`,
    [siteId, eventIds],
  );
  return new Map(outboxRows.parse(rows).map((row) => [row.event.id, row]));
}

/** Returns the last revision of the stream that is recorded as relayed; -1 if there is none. */
export async function relayedRevision(db: Queryable, stream: string): Promise<number> {
  return (await relayedRevisions(db, [stream])).get(stream) ?? -1;
}

/** Returns the last revisions of the streams that are recorded as relayed; none without one. */
export async function relayedRevisions(
  db: Queryable,
  streams: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query({
    name: 'relay_recorded_revisions',
    text: 'select stream, revision from relayed_streams where stream = any($1::text[])',
    values: [textArray(streams)],
  });
  return new Map(revisionRows.parse(rows).map((row) => [row.stream, row.revision]));
}

/**
 * Another process recorded a newer revision of the stream, so the state that this relay holds is
 * outdated.
 */
export class StreamMoved extends Error {
  override readonly name = 'StreamMoved';

  /** The stream is recorded at another revision than the given one. */
  static from(stream: string, revision: number): StreamMoved {
    return new StreamMoved(`${stream} is no longer at revision ${revision}`);
  }
}

/** Events of one stream that the log contains after `revision`. */
export interface RelayedRows {
  readonly siteId: string;
  readonly stream: string;
  readonly revision: number;
  /** Number of events. */
  readonly count: number;
  /** Numbers and revisions of the events that wait in the outbox. */
  readonly rows: readonly { readonly seq: number; readonly revision: number }[];
}

/** Returns the rows as the log contains them: one after another, after `revision`. */
export function relayedRows(siteId: string, stream: string, revision: number, seqs: readonly number[]): RelayedRows {
  const rows = seqs.map((seq, place) => ({ seq, revision: revision + 1 + place }));
  return { siteId, stream, revision, count: seqs.length, rows };
}

/** SQLSTATE of `mark_relayed` if a row did not wait. */
const SERIALIZATION_FAILURE = '40001';

/**
 * Records what the log contains, in one statement.
 * @param relayed of different streams
 * @returns the streams that are recorded at another revision; nothing is recorded for them
 * @throws StreamMoved if a row was already recorded; then nothing is recorded
 */
export async function markRelayed(db: Queryable, relayed: readonly RelayedRows[]): Promise<ReadonlySet<string>> {
  const owners = relayed.flatMap(({ rows }, place) => rows.map(() => place + 1));
  const rows = relayed.flatMap((one) => one.rows);
  try {
    const result = await db.query({
      name: 'relay_mark',
      text: `select mark_relayed($1::text[], $2::uuid[], $3::bigint[], $4::bigint[], $5::integer[], $6::bigint[], $7::bigint[]) as recorded`,
      values: [
        textArray(relayed.map(({ stream }) => stream)),
        uuidArray(relayed.map(({ siteId }) => siteId)),
        int8Array(relayed.map(({ revision }) => revision)),
        int8Array(relayed.map(({ revision, count }) => revision + count)),
        int4Array(owners),
        int8Array(rows.map(({ seq }) => seq)),
        int8Array(rows.map(({ revision }) => revision)),
      ],
    });
    const [{ recorded }] = recordedRow.parse(result.rows);
    return new Set(relayed.filter((_, place) => recorded[place] !== true).map(({ stream }) => stream));
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== SERIALIZATION_FAILURE) throw error;
    throw new StreamMoved(error.message, { cause: error });
  }
}
