import { z } from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { isStamped } from '../ledger/stamped.js';

const PAGE = 1_000;
const pageRows = z
  .array(
    z.object({ last_seq: z.int().nullable(), examined: z.int(), is_old: z.boolean().nullable(), deleted: z.int() }),
  )
  .length(1);

/**
 * Deletes relayed rows that are older than the retention and whose Merkle batch has a time stamp.
 * Until then, the rows can refill a log that was restored from an older backup. Each page is one
 * short transaction.
 * @param retentionMs minimum age of a deleted row, in milliseconds
 * @returns number of deleted rows
 */
export async function deleteStampedRows(db: Queryable, retentionMs: number, signal: AbortSignal): Promise<number> {
  let after = 0;
  let deleted = 0;
  while (!signal.aborted) {
    const { rows } = await db.query(DELETE_PAGE, [after, PAGE, retentionMs]);
    const [page] = pageRows.parse(rows);
    if (page === undefined || page.last_seq === null) break;
    deleted += page.deleted;
    after = page.last_seq;
    // Rows are ordered approximately by age, so the rows after a young one need no check.
    if (page.examined < PAGE || page.is_old !== true) break;
  }
  return deleted;
}

const DELETE_PAGE = `
  with page as (
    select seq, stream, revision, created_at < now() - $3 * interval '1 millisecond' as is_old
      from outbox left join outbox_relayed using (seq) where seq > $1 order by seq limit $2
  ), stamped as (
    select p.seq from page p join leaves l on l.stream = p.stream and l.revision = p.revision
     where p.is_old and ${isStamped('l.batch')}
  ), deleted as (
    delete from outbox o using stamped s where o.seq = s.seq returning o.seq
  ), marks as (
    delete from outbox_relayed r using stamped s where r.seq = s.seq
  )
  select (select max(seq) from page) as last_seq,
         (select count(*) from page)::int as examined,
         (select is_old from page order by seq desc limit 1) as is_old,
         (select count(*) from deleted)::int as deleted`;
