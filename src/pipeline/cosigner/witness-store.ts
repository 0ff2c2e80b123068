import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';

/** A stamped checkpoint: its size, and the exact text of its note. */
export interface StampedCheckpoint {
  readonly size: number;
  readonly note: string;
}

const checkpointRows = z.array(z.object({ size: z.int(), note: z.string() }));

/**
 * Returns the checkpoint to submit to a witness: the newest one.
 * @param keys verifier-key lines of the witness
 * @returns null if no checkpoint is stamped, or each of the keys has cosigned the newest one
 */
export async function readSubmission(db: Queryable, keys: readonly string[]): Promise<StampedCheckpoint | null> {
  const { rows } = await db.query(
    `select n.size, n.note from (select size, note from checkpoints order by size desc limit 1) n
      where (select count(*) from cosignatures s where s.size = n.size and s.witness = any ($1)) < cardinality($1)`,
    [keys],
  );
  return checkpointRows.parse(rows)[0] ?? null;
}

/** Returns the newest checkpoint that has all its time stamps; null: there is none. */
export async function readNewestCheckpoint(db: Queryable): Promise<StampedCheckpoint | null> {
  const { rows } = await db.query('select size, note from checkpoints order by size desc limit 1');
  return checkpointRows.parse(rows)[0] ?? null;
}

const sizeRows = z.array(z.object({ size: z.int() })).max(1);

/** Returns the size that a witness cosigned last, as far as this service knows; 0 if it does not know. */
export async function readWitnessSize(db: Queryable, witness: string): Promise<number> {
  const { rows } = await db.query('select size from witnesses where name = $1', [witness]);
  return sizeRows.parse(rows)[0]?.size ?? 0;
}

const STORE_SIZE = `insert into witnesses (name, size) values ($1, $2)
  on conflict (name) do update set size = excluded.size, updated_at = now()`;

/** Stores the size that a witness says it cosigned last. */
export async function storeWitnessSize(db: Queryable, witness: string, size: number): Promise<void> {
  await db.query(STORE_SIZE, [witness, size]);
}

/** A verified cosignature over a stamped checkpoint. */
export interface Cosignature {
  readonly size: number;
  /** Verifier-key line. */
  readonly key: string;
  /** Signature line with its line feed. */
  readonly line: string;
  /** Time that the witness states. */
  readonly time: Date;
}

/**
 * Stores the verified cosignatures of a witness beside their checkpoint, and the size that the witness
 * reached.
 * @param cosignatures of one size, at least one
 */
export async function storeCosignatures(
  db: Queryable,
  witness: string,
  size: number,
  cosignatures: readonly Cosignature[],
): Promise<void> {
  await db.query(
    `with stored as (
       insert into cosignatures (size, witness, line, cosigned_at)
       select $2, * from unnest($3::text[], $4::text[], $5::timestamptz[])
       on conflict (size, witness) do nothing
     ) ${STORE_SIZE}`,
    [
      witness,
      size,
      cosignatures.map(({ key }) => key),
      cosignatures.map(({ line }) => line),
      cosignatures.map(({ time }) => time),
    ],
  );
}
