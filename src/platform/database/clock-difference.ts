import { z } from 'zod';
import type { Queryable } from './pool.js';

/** Most that two clocks of one installation may differ, in milliseconds. */
export const MAX_CLOCK_DIFFERENCE_MS = 60_000;

const clockRows = z.tuple([z.object({ at: z.date() })]);

/**
 * By how much this process's clock is ahead of the database's, in milliseconds; 0 if the difference is less than the question took.
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
