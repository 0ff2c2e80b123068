import { z } from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import type { NewEvent } from '../event-log/port.js';

/** A stored event that waits for the log. */
export interface OutboxRow {
  readonly seq: number;
  readonly stream: string;
  readonly event: NewEvent;
}

const NO_METADATA = new Uint8Array(0);

const outboxRow = z
  .object({ seq: z.int(), stream: z.string(), event_id: z.string(), type: z.string(), body: z.instanceof(Uint8Array) })
  .transform(
    (row): OutboxRow => ({
      seq: row.seq,
      stream: row.stream,
      event: { id: row.event_id, type: row.type, data: row.body, metadata: NO_METADATA },
    }),
  );
export const outboxRows = z.array(outboxRow);

const siteRows = z.array(z.object({ site_id: z.string() }));
const revisionRows = z.array(z.object({ revision: z.int() })).max(1);

/**
 * Returns the sites with waiting rows, except quarantined sites. The query skips through the index
 * site by site, so its cost does not grow with the number of waiting rows.
 */
export async function sitesWaiting(db: Queryable): Promise<string[]> {
  const { rows } = await db.query(`
    with recursive waiting as (
      (select site_id from outbox where revision is null order by site_id limit 1)
      union all
      select (select o.site_id from outbox o where o.revision is null and o.site_id > w.site_id order by o.site_id limit 1)
        from waiting w where w.site_id is not null
    )
    select site_id from waiting w
     where site_id is not null and not exists (select from quarantined_sites p where p.site_id = w.site_id)`);
  return siteRows.parse(rows).map((row) => row.site_id);
}

/**
 * Returns the first waiting rows of a site that are committed now, in the order of the site. There
 * is no high-water mark, because sequence numbers are not assigned in commit order.
 * @param maxBytes maximum total size of the bodies; the first row is returned at any size
 */
export async function takeWaiting(
  db: Queryable,
  siteId: string,
  maxRows: number,
  maxBytes: number,
): Promise<OutboxRow[]> {
  const { rows } = await db.query(
    `select seq, stream, event_id, type, body from (
       select *, sum(octet_length(body)) over (order by seq) as bytes, row_number() over (order by seq) as place
         from (select * from outbox where site_id = $1 and revision is null order by seq limit $2) as first_rows
     ) as sized
     where bytes <= $3 or place = 1
     order by seq`,
    [siteId, maxRows, maxBytes],
  );
  return outboxRows.parse(rows);
}

/** Returns the waiting rows of the site with these event ids. */
export async function findWaiting(
  db: Queryable,
  siteId: string,
  eventIds: readonly string[],
): Promise<Map<string, OutboxRow>> {
  const { rows } = await db.query(
    `select seq, stream, event_id, type, body from outbox
      where site_id = $1 and revision is null and event_id = any($2::uuid[])`,
    [siteId, eventIds],
  );
  return new Map(outboxRows.parse(rows).map((row) => [row.event.id, row]));
}

/** Returns the last revision of the stream that is recorded as relayed; -1 if there is none. */
export async function relayedRevision(db: Queryable, stream: string): Promise<number> {
  const { rows } = await db.query('select revision from relayed_streams where stream = $1', [stream]);
  return revisionRows.parse(rows)[0]?.revision ?? -1;
}

/**
 * Another process recorded a newer revision of the stream, so the state that this relay holds is
 * outdated.
 */
export class StreamMoved extends Error {
  override readonly name = 'StreamMoved';
}

/**
 * Records that the log contains these rows, at the revisions after `revision`.
 * @param db in a transaction
 * @throws StreamMoved if the stream is recorded at another revision, or a row was already recorded
 */
export async function markRelayed(
  db: Queryable,
  stream: string,
  revision: number,
  seqs: readonly number[],
): Promise<void> {
  await advanceStream(db, stream, revision, revision + seqs.length);
  const { rowCount } = await db.query(
    `update outbox o set revision = $2 + given.place
       from unnest($1::bigint[]) with ordinality as given (seq, place)
      where o.seq = given.seq and o.revision is null`,
    [seqs, revision],
  );
  if (rowCount !== seqs.length) throw new StreamMoved(`rows of ${stream} were relayed by another process`);
}

/**
 * Records the new revision of a stream.
 * @throws StreamMoved if the recorded revision is not `from`
 */
export async function advanceStream(db: Queryable, stream: string, from: number, to: number): Promise<void> {
  const { rowCount } = await db.query(
    `insert into relayed_streams as r (stream, revision) values ($1, $3)
     on conflict (stream) do update set revision = excluded.revision where r.revision = $2`,
    [stream, from, to],
  );
  if (rowCount !== 1) throw new StreamMoved(`${stream} is no longer at revision ${from}`);
}
