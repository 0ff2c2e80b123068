import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { isStamped } from '../ledger/stamped.js';

const pageRows = z.tuple([z.object({ batches: z.int(), deleted: z.int() })]);

/** Batches whose events one transaction deletes. */
const PAGE = 4;

/**
 * Deletes events that another log has, after the retention: when their Merkle batch was sealed long
 * enough ago, and has a time stamp. Until then, they can refill a log that was restored from an older
 * backup. Each page is one short transaction.
 * @param retentionMs minimum age of the batch, in milliseconds
 * @returns number of deleted events
 */
export async function deleteStampedEvents(db: Queryable, retentionMs: number, signal: AbortSignal): Promise<number> {
  let deleted = 0;
  while (!signal.aborted) {
    const { rows } = await db.query(DELETE_PAGE, [PAGE, retentionMs]);
    const [page] = pageRows.parse(rows);
    deleted += page.deleted;
    if (page.batches < PAGE) break;
  }
  return deleted;
}

// Events with a position are of a postgres log that was copied to another one.
const DELETE_PAGE = `
  with page as (
    select b.number from batches b
     where b.number > (select batch from event_log.retention)
       and b.sealed_at < now() - $2 * interval '1 millisecond' and ${isStamped('b.number')}
     order by b.number limit $1
  ), deleted as (
    delete from event_log.events e using page p
      join leaves l on l.batch = p.number join event_log.streams s on s.name = l.stream
     where e.stream = s.number and e.revision = l.revision and e.revision > event_log.last_of(s.number)
    returning 1
  ), moved as (
    update event_log.retention set batch = (select max(number) from page) where exists (select from page)
  )
  select (select count(*) from page)::int as batches, (select count(*) from deleted)::int as deleted`;
