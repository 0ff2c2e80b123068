import { z } from 'zod';
import { int8Array, textArray, uuidArray } from '../../platform/database/binary-arrays.js';
import { type CopiedRow, copiedRows } from '../../platform/database/copied-rows.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { int8ArrayLiteral } from '../../platform/database/sql-literals.js';
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
const seqRows = z.array(z.object({ seq: z.int() }));
const revisionRows = z.array(z.object({ stream: z.string(), revision: z.int() }));
const streamNames = z.array(z.object({ stream: z.string() }));

/** No site has this id; every other one is greater. */
export const BEFORE_ALL_SITES = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the next sites with waiting rows after a site, in order, without quarantined sites. The
 * query skips through the index site by site, so its cost does not grow with the number of waiting
 * rows.
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
      with recursive waiting as (
        (select site_id, 1 as n from outbox where revision is null and site_id > $1 order by site_id limit 1)
        union all
        select (select o.site_id from outbox o where o.revision is null and o.site_id > w.site_id order by o.site_id limit 1),
               w.n + 1
          from waiting w where w.site_id is not null and w.n < $2
      )
      select site_id, exists (select from quarantined_sites q where q.site_id = w.site_id) as is_quarantined
        from waiting w where site_id is not null order by n`,
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

/**
 * Returns the first waiting rows of sites that are committed now, in the order of each site. There
 * is no high-water mark, because sequence numbers are not assigned in commit order.
 */
export async function takeWaiting(db: Queryable, siteIds: readonly string[], limits: PageLimits): Promise<OutboxRow[]> {
  if (siteIds.length === 0) return [];
  // In two statements: with the bodies, the windows would sort megabytes on disk, and a join would
  // read the whole table.
  const chosen = await db.query({
    name: 'relay_choose_waiting',
    text: `
      select seq from (
        select *, sum(size) over (partition by site_id order by seq) as site_bytes,
               sum(size) over (order by place, seq) as bytes, row_number() over (order by place, seq) as turn
          from (
            select *, row_number() over (partition by site_id order by seq) as place
              from first_waiting($1::uuid[], $2)
          ) as first_rows
      ) as sized
      where (site_bytes <= $3 or place = 1) and (bytes <= $4 or turn = 1)`,
    values: [uuidArray(siteIds), sharePerSite(limits, siteIds.length), limits.maxSiteBytes, limits.maxBytes],
  });
  const seqs = seqRows.parse(chosen.rows).map(({ seq }) => seq);
  if (seqs.length === 0) return [];
  return await copiedRows(
    db,
    `select seq, site_id, stream, event_id, type, body from outbox
      where seq = any(${int8ArrayLiteral(seqs)}) and revision is null order by seq`,
    copiedRow,
  );
}

function copiedRow(row: CopiedRow): OutboxRow {
  return {
    seq: row.int8(),
    siteId: row.uuid(),
    stream: row.text(),
    event: { id: row.uuid(), type: row.text(), data: row.bytea(), metadata: NO_METADATA },
  };
}

/** Returns the waiting rows of the site with these event ids. */
export async function findWaiting(
  db: Queryable,
  siteId: string,
  eventIds: readonly string[],
): Promise<Map<string, OutboxRow>> {
  const { rows } = await db.query(
    `select seq, site_id, stream, event_id, type, body from outbox
      where site_id = $1 and revision is null and event_id = any($2::uuid[])`,
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

/** Rows of one stream that the log contains, at the revisions after `revision`. */
export interface RelayedRows {
  readonly stream: string;
  readonly revision: number;
  readonly seqs: readonly number[];
}

/**
 * Records that the log contains these rows.
 * @param relayed of different streams
 * @returns the streams that are recorded at another revision; nothing is recorded for them
 * @throws StreamMoved if a row was already recorded; then nothing is recorded
 */
export async function markRelayed(db: Queryable, relayed: readonly RelayedRows[]): Promise<ReadonlySet<string>> {
  return await withTransaction(db, async (db) => {
    // Two relays that both believe to lead would lock the streams of a page in different orders.
    await db.query("select pg_advisory_xact_lock(hashtextextended('consent-ledger relay mark', 0))");
    const advances = relayed.map(({ stream, revision, seqs }) => ({ stream, revision, count: seqs.length }));
    const advanced = await advanceStreams(db, advances);
    const rows = relayed
      .filter(({ stream }) => advanced.has(stream))
      .flatMap(({ revision, seqs }) => seqs.map((seq, place) => ({ seq, revision: revision + 1 + place })));
    const { rowCount } = await db.query({
      name: 'relay_mark_rows',
      text: `update outbox o set revision = given.revision
               from unnest($1::bigint[], $2::bigint[]) as given (seq, revision)
              where o.seq = given.seq and o.revision is null`,
      values: [int8Array(rows.map(({ seq }) => seq)), int8Array(rows.map(({ revision }) => revision))],
    });
    if (rowCount !== rows.length) throw new StreamMoved('rows of the outbox were relayed by another process');
    return new Set(relayed.map(({ stream }) => stream).filter((stream) => !advanced.has(stream)));
  });
}

interface Advance {
  readonly stream: string;
  readonly revision: number;
  /** Number of events after `revision`. */
  readonly count: number;
}

/** Records the new revisions of streams. @returns the streams that were at `revision` */
async function advanceStreams(db: Queryable, advances: readonly Advance[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query({
    name: 'relay_advance_streams',
    text: `
      with given as (select * from unnest($1::text[], $2::bigint[], $3::bigint[]) as g (stream, before, after)),
      moved as (
        update relayed_streams r set revision = g.after from given g where r.stream = g.stream and r.revision = g.before
        returning r.stream),
      started as (
        insert into relayed_streams (stream, revision) select stream, after from given where before = -1
        on conflict do nothing returning stream)
      select stream from moved union all select stream from started`,
    values: [
      textArray(advances.map(({ stream }) => stream)),
      int8Array(advances.map(({ revision }) => revision)),
      int8Array(advances.map(({ revision, count }) => revision + count)),
    ],
  });
  return new Set(streamNames.parse(rows).map(({ stream }) => stream));
}

/**
 * Records that the log has further events of a stream.
 * @throws StreamMoved if the recorded revision is another one
 */
export async function advanceStream(db: Queryable, advance: Advance): Promise<void> {
  const advanced = await advanceStreams(db, [advance]);
  if (!advanced.has(advance.stream)) throw StreamMoved.from(advance.stream, advance.revision);
}
