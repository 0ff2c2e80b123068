import { z } from 'zod';
import { MAX_CHECKPOINTS } from '../../../schemas/api/checkpoints.js';
import type { Queryable } from '../../platform/database/pool.js';

const CheckpointRows = z.array(z.object({ note: z.string(), tsr: z.instanceof(Buffer) })).max(1);

/**
 * A stamped checkpoint: the exact text of its note, and the time stamp response as received. Null
 * if there is none of this size.
 */
export async function readCheckpoint(db: Queryable, size: number) {
  const { rows } = await db.query('select note, tsr from checkpoints where size = $1', [size]);
  return CheckpointRows.parse(rows)[0] ?? null;
}

const ListedRows = z.array(z.object({ size: z.int(), gen_time: z.date() }));

/** The stamped checkpoints of larger sizes than `after`, by size: `MAX_CHECKPOINTS` at most. */
export async function listCheckpoints(db: Queryable, after: number) {
  const { rows } = await db.query('select size, gen_time from checkpoints where size > $1 order by size limit $2', [
    after,
    MAX_CHECKPOINTS,
  ]);
  return ListedRows.parse(rows).map(({ size, gen_time }) => ({
    size,
    time: gen_time.toISOString(),
    note: `/checkpoints/${size}/note`,
    token: `/checkpoints/${size}/token`,
  }));
}

const LargestRows = z.tuple([z.object({ size: z.int() })]);

/** The size of the newest stamped checkpoint; 0 if there is none. */
export async function readLargestSize(db: Queryable): Promise<number> {
  const { rows } = await db.query('select coalesce(max(size), 0) as size from checkpoints');
  const [{ size }] = LargestRows.parse(rows);
  return size;
}
