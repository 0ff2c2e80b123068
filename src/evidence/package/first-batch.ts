import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';

/**
 * Selects batch 0 if a package includes a later batch that names no time stamp. Together with the
 * first time stamp over it, batch 0 proves that there was none to name.
 * @param own numbers of the batches with the package's entries, sorted
 * @returns number of the additional batch, or none
 */
export async function firstBatch(db: Queryable, own: readonly number[]): Promise<readonly number[]> {
  if (own.length === 0 || own.includes(0)) return [];
  // A batch after one that names a time stamp names one as well.
  const { rows } = await db.query(
    `select coalesce(header::jsonb -> 'after' = 'null', false) as unnamed from batches where number = $1`,
    [own[0]],
  );
  return z.array(z.object({ unnamed: z.boolean() })).parse(rows)[0]?.unnamed === true ? [0] : [];
}
