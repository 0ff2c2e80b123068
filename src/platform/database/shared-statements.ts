import * as z from 'zod';
import type { Queryable } from './pool.js';

/** An event of a site that is not in its stream yet. */
export interface UnplacedEvent {
  /** UUID in lower case. */
  readonly id: string;
  /** Versioned type, e.g. `ConsentRecorded.v1`. */
  readonly type: string;
  /** Body, exactly as it is hashed. */
  readonly data: Uint8Array;
}

/**
 * Adds events of a site to the outbox, at the end of one of its streams, in the transaction of the caller. Takes the
 * lock of the site.
 * @param db a handle in a role that may call `event_log.put`
 */
export async function putEvents(
  db: Queryable,
  siteId: string,
  stream: string,
  events: readonly UnplacedEvent[],
): Promise<void> {
  if (events.length === 0) return;
  await db.query(
    'select event_log.put($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::bytea[], $6::timestamptz[])',
    [
      events.map(() => siteId),
      events.map(() => stream),
      events.map(({ id }) => id),
      events.map(({ type }) => type),
      events.map(({ data }) => data),
      events.map(() => null),
    ],
  );
}

/**
 * Returns the SQL of `consentsStream` (`schemas/events/streams.ts`).
 * @param siteId SQL of a site's id
 */
export function consentsStreamSql(siteId: string): string {
  return `('consents-' || ${siteId})`;
}

/**
 * SQL: the last revision of a stream in the Merkle batches below a size; no row if there is none. The stream's number
 * comes first, so that the index yields the revisions in order.
 * @param stream SQL of the stream's name, e.g. `$1`
 * @param below SQL of the size
 */
export function lastSealed(stream: string, below: string): string {
  return `select e.revision from sealed_streams s cross join lateral (
      select e.revision from sealed_events e where e.stream = s.number and e.batch < ${below}
       order by e.stream desc, e.revision desc limit 1) e
    where s.stream = ${stream}`;
}

const IdRows = z.array(z.object({ id: z.string() }));

/**
 * Returns those of the given records that have neither a key nor an erasure here. Every record in the database has a
 * key until it is erased.
 * @param ids event ids of the records
 */
export async function recordsWithoutKey(db: Queryable, ids: readonly string[]): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.query(
    `select id::text from unnest($1::uuid[]) as listed (id)
      where not exists (select from record_keys k where k.event_id = id)
        and not exists (select from erased_records e where e.event_id = id)`,
    [ids],
  );
  return IdRows.parse(rows).map(({ id }) => id);
}

/**
 * SQL: key of the lock on a site's rows of `persons`: shared for adding rows, exclusive for deleting them. The lock on
 * the site's row cannot be used, because the sealer would then have to wait for admission.
 * @param site SQL of the site's id
 */
export function personsLock(site: string): string {
  return `hashtextextended('persons of ' || ${site}, 0)`;
}

/**
 * Locks the test records of a site until the end of the transaction, so that their numbers become visible in order. It
 * does not lock the row of the site, which would hold up live consents.
 * @param db a handle in a transaction
 */
export async function lockTestRecords(db: Queryable, siteId: string): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(hashtextextended('test records of ' || $1::text, 0))`, [siteId]);
}
