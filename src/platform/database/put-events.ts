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
 * Stores events of a site at the end of one of its streams, in the transaction of the caller. They wait
 * for the log. It takes the lock of the site.
 * @param db in a role that may call `event_log.put`
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
