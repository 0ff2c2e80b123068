import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { endingSizes } from './choose-checkpoints.js';
import { readStampedSizes } from './ledger-reader.js';

const PAGE = 1_000;
/** Most time stamps that a package encloses. */
const MAX_STAMPS = 5_000;

/**
 * Selects the batches that renew the time stamps of a package (RFC 4998 §5.2): for each time stamp,
 * the first batch whose header names it. The newer stamp of such a batch proves that the older
 * token existed, even if the older algorithms are broken by then.
 * @param size size of the package's checkpoint
 * @param own numbers of the batches with the package's entries, sorted
 * @returns numbers of the additional batches, sorted
 */
export async function renewalBatches(db: Queryable, size: number, own: readonly number[]): Promise<readonly number[]> {
  const ends = endingSizes(await readStampedSizes(db, size), own);
  const [first] = ends;
  if (first === undefined) return [];
  const named = await sizesNamedBy(db, own);
  const sizes = [...new Set([...ends, ...(await yearlySizes(db, first, size))])]
    .filter((stamped) => stamped < size && !named.has(stamped))
    .slice(-MAX_STAMPS);
  const found = new Set<number>();
  for (let i = 0; i < sizes.length; i += PAGE) {
    // Selects the first batch that names this time stamp or a newer one. If it names a newer one,
    // no batch was sealed between the two.
    const { rows } = await db.query(
      `select b.number from unnest($1::bigint[]) as s (size) cross join lateral (
         select number, (header::jsonb #>> '{after,size}')::bigint as after from batches
          where number >= s.size and number < $2 and (header::jsonb #>> '{after,size}')::bigint >= s.size
          order by number limit 1) b
        where b.after = s.size`,
      [sizes.slice(i, i + PAGE), size],
    );
    for (const { number } of z.array(z.object({ number: z.int() })).parse(rows)) found.add(number);
  }
  const known = new Set(own);
  return [...found].filter((number) => !known.has(number)).sort((a, b) => a - b);
}

/**
 * The last stamped size of each calendar year (UTC). One per year suffices, because algorithms
 * become obsolete over years.
 */
export async function yearlySizes(db: Queryable, from: number, to: number): Promise<readonly number[]> {
  const { rows } = await db.query(
    `select max(size) as size from checkpoints where size between $1 and $2
      group by date_trunc('year', gen_time at time zone 'UTC') order by 1`,
    [from, to],
  );
  return z
    .array(z.object({ size: z.int() }))
    .parse(rows)
    .map((row) => row.size);
}

async function sizesNamedBy(db: Queryable, numbers: readonly number[]): Promise<ReadonlySet<number>> {
  const sizes = new Set<number>();
  for (let i = 0; i < numbers.length; i += PAGE) {
    const { rows } = await db.query(
      `select distinct (header::jsonb #>> '{after,size}')::bigint as size from batches
        where number = any($1::bigint[]) and header::jsonb -> 'after' <> 'null'`,
      [numbers.slice(i, i + PAGE)],
    );
    for (const row of z.array(z.object({ size: z.int() })).parse(rows)) sizes.add(row.size);
  }
  return sizes;
}
