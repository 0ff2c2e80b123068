import type pg from 'pg';
import { z } from 'zod';
import type { NewEvent } from '../event-log/port.js';

/** An event on its way to the log. */
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

/** The sites with rows that wait, parked ones left out. The index is skipped through site by site, however many rows wait. */
export async function sitesWaiting(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query(`
    with recursive waiting as (
      (select site_id from outbox where revision is null order by site_id limit 1)
      union all
      select (select o.site_id from outbox o where o.revision is null and o.site_id > w.site_id order by o.site_id limit 1)
        from waiting w where w.site_id is not null
    )
    select site_id from waiting w
     where site_id is not null and not exists (select from parked_sites p where p.site_id = w.site_id)`);
  return siteRows.parse(rows).map((row) => row.site_id);
}

/**
 * The first rows of a site that wait, in the site's order: those that are there now. (No high-water mark: the order of sequence numbers is
 * not the order of commits.)
 * @param maxBytes of bodies; the first row comes whatever its size
 */
export async function takeWaiting(
  pool: pg.Pool,
  siteId: string,
  maxRows: number,
  maxBytes: number,
): Promise<OutboxRow[]> {
  const { rows } = await pool.query(
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

/** Of these events, those of the site that wait, by id. */
export async function findWaiting(
  pool: pg.Pool,
  siteId: string,
  eventIds: readonly string[],
): Promise<Map<string, OutboxRow>> {
  const { rows } = await pool.query(
    `select seq, stream, event_id, type, body from outbox
      where site_id = $1 and revision is null and event_id = any($2::uuid[])`,
    [siteId, eventIds],
  );
  return new Map(outboxRows.parse(rows).map((row) => [row.event.id, row]));
}

/** The last revision of the stream that the log is known to have; -1 if none. */
export async function relayedRevision(pool: pg.Pool, stream: string): Promise<number> {
  const { rows } = await pool.query('select revision from relayed_streams where stream = $1', [stream]);
  return revisionRows.parse(rows)[0]?.revision ?? -1;
}

/** Someone else has moved the stream on: what this relay believed of it is out of date. */
export class StreamMoved extends Error {
  override readonly name = 'StreamMoved';
}

/**
 * Records that the log has these rows, at the revisions behind `revision`.
 * @param client in a transaction
 * @throws StreamMoved if the stream is recorded at another revision, or a row was recorded already
 */
export async function markRelayed(
  client: pg.PoolClient,
  stream: string,
  revision: number,
  seqs: readonly number[],
): Promise<void> {
  await advanceStream(client, stream, revision, revision + seqs.length);
  const { rowCount } = await client.query(
    `update outbox o set revision = $2 + given.place
       from unnest($1::bigint[]) with ordinality as given (seq, place)
      where o.seq = given.seq and o.revision is null`,
    [seqs, revision],
  );
  if (rowCount !== seqs.length) throw new StreamMoved(`rows of ${stream} were relayed by another process`);
}

/** Moves the record of a stream on. @throws StreamMoved if it is not at `from` */
export async function advanceStream(client: pg.PoolClient, stream: string, from: number, to: number): Promise<void> {
  const { rowCount } = await client.query(
    `insert into relayed_streams as r (stream, revision) values ($1, $3)
     on conflict (stream) do update set revision = excluded.revision where r.revision = $2`,
    [stream, from, to],
  );
  if (rowCount !== 1) throw new StreamMoved(`${stream} is no longer at revision ${from}`);
}
