import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';

const lineRows = z.array(z.object({ line: z.string() }));

/**
 * Returns the cosignatures of a checkpoint as signature lines, oldest first.
 * @returns empty if no witness has cosigned this size
 */
export async function readCosignatures(db: Queryable, size: number): Promise<string> {
  const { rows } = await db.query('select line from cosignatures where size = $1 order by cosigned_at, witness', [
    size,
  ]);
  return lineRows
    .parse(rows)
    .map(({ line }) => line)
    .join('');
}
