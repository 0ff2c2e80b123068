import * as z from 'zod';
import type { Queryable } from './pool.js';

const IdRows = z.array(z.object({ id: z.string() }));

/**
 * Returns those of some records that have neither a key nor an erasure here. Every record in the database
 * has a key until it is erased.
 * @param ids event ids of the records
 */
export async function recordsWithoutKey(db: Queryable, ids: readonly string[]): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.query(
    `select id::text from unnest($1::uuid[]) as listed (id)
      where not exists (select from record_keys k where k.event_id = id)
        and not exists (select from erased_records e where e.event_id = id)`,
    [ids],
  );
  return IdRows.parse(rows).map(({ id }) => id);
}
