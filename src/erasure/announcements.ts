import * as z from 'zod';
import { consentsStream } from '../../schemas/events/streams.js';
import { joinFirstStamp } from '../pipeline/ledger/read-checkpoints.js';
import type { Queryable } from '../platform/database/pool.js';
import type { Erasure } from './read-erasures.js';

/** States of an announcement, in order. */
export const ANNOUNCEMENT_STATES = ['waiting', 'logged', 'sealed', 'stamped'] as const;

/**
 * A queued `SubjectErased` of an erasure: `waiting` for the log, `logged`, `sealed` in a batch, or
 * `stamped` with that batch.
 */
export interface Announcement {
  readonly eventId: string;
  readonly state: (typeof ANNOUNCEMENT_STATES)[number];
  readonly batch: number | null;
  /** Size of the first stamped checkpoint that covers it. */
  readonly checkpointSize: number | null;
  readonly stampedTime: Date | null;
}

const announcementRow = z
  .object({
    event_id: z.string(),
    is_waiting: z.boolean(),
    batch: z.int().nullable(),
    size: z.int().nullable(),
    gen_time: z.date().nullable(),
  })
  .transform(
    (row): Announcement => ({
      eventId: row.event_id,
      state: row.size !== null ? 'stamped' : row.batch !== null ? 'sealed' : row.is_waiting ? 'waiting' : 'logged',
      batch: row.batch,
      checkpointSize: row.size,
      stampedTime: row.gen_time,
    }),
  );

/**
 * Lists the announcements of an erasure, oldest first.
 * @param after id of an announcement: only later ones are listed
 */
export async function listAnnouncements(
  db: Queryable,
  { id, siteId }: Pick<Erasure, 'id' | 'siteId'>,
  after: string | null,
  limit: number,
): Promise<Announcement[]> {
  const { rows } = await db.query(
    `select e.event_id,
            exists (select from event_log.waiting_events w
                     where w.site_id = $2 and w.id = e.event_id) as is_waiting,
            l.batch, c.size, c.gen_time
       from erasure_events e
       left join leaves l on l.event_id = e.event_id and l.stream = $3
       ${joinFirstStamp('l.batch', 'size, gen_time', 'c')}
      where e.request_id = $1 and ($4::uuid is null or e.event_id > $4)
      order by e.event_id limit $5`,
    [id, siteId, consentsStream(siteId), after, limit],
  );
  return z.array(announcementRow).parse(rows);
}

/** Number of records of an erasure whose announcement is not queued yet. */
export async function countUnannounced(db: Queryable, { id }: Pick<Erasure, 'id'>): Promise<number> {
  const { rows } = await db.query(
    'select count(*)::integer as records from erased_records where request_id = $1 and erasure_event_id is null',
    [id],
  );
  return countRows.parse(rows)[0].records;
}

const countRows = z.tuple([z.object({ records: z.int() })]);
