import { z } from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import type { NewEvent } from '../event-log/port.js';

const storedRows = z.array(
  z
    .object({ revision: z.int(), id: z.string(), type: z.string(), data: z.instanceof(Uint8Array) })
    .transform(({ revision, ...event }) => ({ revision, event: { ...event, metadata: new Uint8Array(0) } })),
);

/** Returns the stored events of a stream after a revision, up to the first gap. */
export async function storedEvents(db: Queryable, stream: string, after: number, limit: number): Promise<NewEvent[]> {
  const { rows } = await db.query(
    `select revision, id, type, data from event_log.stored_events
      where stream = $1 and revision > $2 order by revision limit $3`,
    [stream, after, limit],
  );
  return storedRows
    .parse(rows)
    .filter(({ revision }, place) => revision === after + 1 + place)
    .map(({ event }) => event);
}
