import { z } from 'zod';
import type { Queryable } from '../../platform/database/pool.js';

/** A stamped checkpoint: its size, and the exact text of its note. */
export interface StampedCheckpoint {
  readonly size: number;
  readonly note: string;
}

const checkpointRows = z.array(z.object({ size: z.int(), note: z.string() }));

/**
 * Returns the checkpoints to submit to a witness, smallest first: those that change the ledger's
 * key and are newer than the witness's state, then the newest checkpoint. Without the former, a
 * witness could not know the key that signed the latter.
 * @param keys verifier-key lines of the witness
 * @param size size that the witness cosigned last, as far as this service knows
 * @returns empty if no checkpoint is stamped, or the witness has cosigned the newest one
 */
export async function readSubmissions(
  db: Queryable,
  keys: readonly string[],
  size: number,
): Promise<readonly StampedCheckpoint[]> {
  const { rows } = await db.query(
    `with newest as (
       select size from checkpoints order by size desc limit 1
     ), due as (
       select size from newest n
        where (select count(*) from cosignatures s where s.size = n.size and s.witness = any ($1)) < cardinality($1)
     )
     select c.size, c.note from checkpoints c, due
      where c.size = due.size
         or (c.size > $2 and c.size in (select bridge_size from ledger_keys where bridge_size < due.size))
      order by c.size`,
    [keys, size],
  );
  return checkpointRows.parse(rows);
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
