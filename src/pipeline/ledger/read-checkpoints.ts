import * as z from 'zod';
import { checkpointLinks, MAX_CHECKPOINTS } from '../../../schemas/api/checkpoints.js';
import type { Queryable } from '../../platform/database/pool.js';

/**
 * SQL: the first checkpoint that covers a Merkle batch and that enough authorities have stamped. A checkpoint of size n
 * covers the Merkle batches 0 to n − 1; only this file encodes that rule.
 * @param batch SQL of the batch's number, e.g. `l.batch` or `$1`
 * @param columns names of columns of `checkpoints`, separated by commas
 */
export function firstStamp(batch: string, columns: string): string {
  return `select ${columns} from checkpoints where size > ${batch} order by size limit 1`;
}

/**
 * SQL: joins `firstStamp` to a row. If no checkpoint covers the batch, every column of the join is null.
 * @param alias alias of the joined row
 */
export function joinFirstStamp(batch: string, columns: string, alias: string): string {
  return `left join lateral (${firstStamp(batch, columns)}) ${alias} on true`;
}

/** SQL: whether a checkpoint with a time stamp covers a Merkle batch. @param batch SQL of the batch's number */
export function isStamped(batch: string): string {
  return `${batch} < (select coalesce(max(size), 0) from checkpoints)`;
}

const NoteRows = z.array(z.object({ note: z.string() })).max(1);

/** Reads the exact text of a stamped checkpoint's note, or null if there is none of this size. */
export async function readNote(db: Queryable, size: number): Promise<string | null> {
  const { rows } = await db.query('select note from checkpoints where size = $1', [size]);
  return NoteRows.parse(rows)[0]?.note ?? null;
}

const TokenRows = z.array(z.object({ tsr: z.instanceof(Buffer) })).max(1);

/** Reads a time stamp response of a stamped checkpoint, as received, or null if there is none. */
export async function readToken(db: Queryable, size: number, number: number): Promise<Buffer | null> {
  const { rows } = await db.query(
    'select t.tsr from checkpoint_tokens t join checkpoints c using (size) where t.size = $1 and t.number = $2',
    [size, number],
  );
  return TokenRows.parse(rows)[0]?.tsr ?? null;
}

const ListedRows = z.array(z.object({ size: z.int(), gen_time: z.date(), tokens: z.int() }));

/** Lists the stamped checkpoints larger than `after`, by size, at most `MAX_CHECKPOINTS`. */
export async function listCheckpoints(db: Queryable, after: number) {
  const { rows } = await db.query(
    'select size, gen_time, tokens from checkpoints where size > $1 order by size limit $2',
    [after, MAX_CHECKPOINTS],
  );
  return ListedRows.parse(rows).map(({ size, gen_time, tokens }) => ({
    size,
    time: gen_time.toISOString(),
    ...checkpointLinks(size, tokens),
  }));
}

const LargestRows = z.tuple([z.object({ size: z.int() })]);

/** The size of the newest stamped checkpoint, or 0 if there is none. */
export async function readLargestSize(db: Queryable): Promise<number> {
  const { rows } = await db.query('select coalesce(max(size), 0) as size from checkpoints');
  const [{ size }] = LargestRows.parse(rows);
  return size;
}

const lineRows = z.array(z.object({ line: z.string() }));

/**
 * Returns the cosignatures of a checkpoint as signature lines, oldest first.
 * @returns an empty text if no witness has cosigned this size
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
