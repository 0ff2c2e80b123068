import * as z from 'zod';
import { LEDGER_STREAM, POLICY_STREAM } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { NewEvent } from '../event-log/port.js';

const storedRows = z.array(
  z
    .object({ revision: z.int(), id: z.string(), type: z.string(), data: z.instanceof(Uint8Array) })
    .transform(({ revision, ...event }) => ({ revision, event: { ...event, metadata: new Uint8Array(0) } })),
);

/** Tables of the streams that belong to no site. */
const TABLES: ReadonlyMap<string, string> = new Map([
  [LEDGER_STREAM, 'ledger_events'],
  [POLICY_STREAM, 'ledger_policies'],
]);

/** Returns the stored events of a stream after a revision, up to the first gap. */
export async function storedEvents(db: Queryable, stream: string, after: number, limit: number): Promise<NewEvent[]> {
  const table = TABLES.get(stream);
  const { rows } =
    table === undefined
      ? await db.query(
          `select revision, id, type, data from event_log.stored_events
            where stream = $1 and revision > $2 order by revision limit $3`,
          [stream, after, limit],
        )
      : await db.query(
          `select revision, event_id as id, type, body as data from ${table} where revision > $1 order by revision limit $2`,
          [after, limit],
        );
  return storedRows
    .parse(rows)
    .filter(({ revision }, place) => revision === after + 1 + place)
    .map(({ event }) => event);
}
