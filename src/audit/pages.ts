import * as z from 'zod';
import type { Queryable } from '../platform/database/pool.js';

/** Rows that one statement of an audit reads. */
export const PAGE = 500;

const CountRows = z.tuple([z.object({ rows: z.number() })]);

/** Returns how many rows a table has, as the planner estimates it: for progress only. */
export async function estimatedRows(db: Queryable, table: string): Promise<number | null> {
  const { rows } = await db.query('select reltuples::float8 as rows from pg_class where oid = $1::regclass', [table]);
  const [{ rows: estimate }] = CountRows.parse(rows);
  return estimate < 0 ? null : estimate;
}

/**
 * Reads rows page by page.
 * @param read returns the rows after a key, in its order; fewer than `PAGE` end the list
 * @param keyOf key of a row, with which the next page begins
 */
export async function* pagesOf<T>(
  read: (after: string | null) => Promise<readonly T[]>,
  keyOf: (row: T) => string,
): AsyncGenerator<readonly T[]> {
  for (let after: string | null = null; ; ) {
    const page: readonly T[] = await read(after);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < PAGE) return;
    after = keyOf(last);
  }
}
