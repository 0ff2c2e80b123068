import * as z from 'zod';
import type { Publication } from '../../../schemas/api/panel/publication.js';
import { joinFirstStamp } from '../../pipeline/ledger/read-checkpoints.js';

/**
 * SQL that joins, as `p`, the batch of a notice's event and the first stamped checkpoint that
 * covers it.
 * @param notice alias of a row with `event_id` and `site_id`
 */
export function joinPublication(notice: string): string {
  return `
  left join lateral (
    select l.batch, b.sealed_at, c.size, c.gen_time
      from leaves l
      join batches b on b.number = l.batch
      ${joinFirstStamp('l.batch', 'size, gen_time', 'c')}
     where l.event_id = ${notice}.event_id and l.stream = 'notices-' || ${notice}.site_id
  ) p on true`;
}

export const PUBLICATION_COLUMNS = 'p.batch, p.sealed_at, p.size as checkpoint_size, p.gen_time';

export const PublicationRow = z.object({
  event_id: z.string(),
  batch: z.int().nullable(),
  sealed_at: z.date().nullable(),
  checkpoint_size: z.int().nullable(),
  gen_time: z.date().nullable(),
});

/**
 * The position of a notice in the ledger, from a row of `joinPublication`. `sealed` is null before
 * sealing, and `stamped` is null before the first time stamp.
 */
export function publicationOf(row: z.infer<typeof PublicationRow>): Publication {
  const { event_id, batch, sealed_at, checkpoint_size, gen_time } = row;
  return {
    event_id,
    sealed: batch === null || sealed_at === null ? null : { batch, sealed_at: sealed_at.toISOString() },
    stamped:
      checkpoint_size === null || gen_time === null ? null : { checkpoint_size, gen_time: gen_time.toISOString() },
  };
}
