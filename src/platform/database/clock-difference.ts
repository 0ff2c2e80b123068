import * as z from 'zod';
import type { Queryable } from './pool.js';

/** Maximum difference between two clocks of one installation, in milliseconds. */
export const MAX_CLOCK_DIFFERENCE_MS = 60_000;

const clockRows = z.tuple([z.object({ at: z.date() })]);

/**
 * Returns by how many milliseconds this process's clock is ahead of the database's. Returns 0 if
 * the difference is less than the duration of the query.
 * @param now Unix milliseconds
 */
export async function clockDifference(db: Queryable, now: () => number): Promise<number> {
  const before = now();
  const { rows } = await db.query('select clock_timestamp() as at');
  const after = now();
  const at = clockRows.parse(rows)[0].at.getTime();
  if (at < before) return before - at;
  return at > after ? after - at : 0;
}
