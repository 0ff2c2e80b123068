import * as z from 'zod';
import { decodeUtf8, utf8 } from '../../../schemas/crypto/encoding.js';
import {
  ADD_CHECKPOINT,
  formatAddCheckpoint,
  parseTreeSize,
  TLOG_SIZE,
} from '../../../schemas/evidence/add-checkpoint.js';
import {
  isCosignatureBy,
  MAX_COSIGNATURES_BYTES,
  parseCosignatures,
  verifyCosignature,
} from '../../../schemas/evidence/cosignature.js';
import { keyLineOf, parseNote, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { withoutTrailing } from '../../../schemas/text/without-trailing.js';
import type { Queryable } from '../../platform/database/pool.js';
import { type BoundedResponse, exchange, type Fetch } from '../../timestamping/http.js';

/** How much the time of a cosignature may differ from this clock, in milliseconds. */
const CLOCK_TOLERANCE_MS = 300_000;

/** A witness returned no usable cosignature. The message states the reason and is safe to log. */
export class WitnessFailure extends Error {
  override readonly name = 'WitnessFailure';
}

/** Access to one witness. */
export interface WitnessConnection {
  /** Submission prefix. */
  readonly url: string;
  readonly name: string;
  /** At least one key. The witness must return a cosignature by each key. */
  readonly keys: readonly VerifierKey[];
  readonly fetch: Fetch;
  /** Time limit for one request, in milliseconds. */
  readonly timeoutMs: number;
  readonly now: () => Date;
}

/** The answer of a witness to a checkpoint. */
export type WitnessAnswer =
  | { readonly outcome: 'cosigned'; readonly cosignatures: readonly Cosignature[] }
  /** The witness cosigned another size last (409). */
  | { readonly outcome: 'other-size'; readonly size: number }
  /** The checkpoint does not continue what the witness cosigned (422). */
  | { readonly outcome: 'other-root' }
  /** The witness does not know a key that signed the checkpoint (403). */
  | { readonly outcome: 'unknown-key' };

/**
 * Submits a checkpoint to a witness (c2sp.org/tlog-witness, `add-checkpoint`) and verifies the
 * cosignatures that it returns. Cosignatures of other keys are ignored.
 * @param oldSize size that the witness cosigned last; at most the size of the checkpoint
 * @param proof consistency proof from `oldSize`
 * @throws WitnessFailure if the answer cannot be used
 * @throws HttpFailure if the witness does not answer, or answers with another status
 */
export async function submitCheckpoint(
  witness: WitnessConnection,
  checkpoint: StampedCheckpoint,
  { oldSize, proof }: { readonly oldSize: number; readonly proof: readonly Uint8Array[] },
  signal: AbortSignal,
): Promise<WitnessAnswer> {
  const response = await exchange(witness.fetch, {
    url: `${withoutTrailing(witness.url, '/')}/${ADD_CHECKPOINT}`,
    method: 'POST',
    body: utf8(formatAddCheckpoint({ oldSize, proof, note: checkpoint.note })),
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    timeoutMs: witness.timeoutMs,
    maxBytes: MAX_COSIGNATURES_BYTES,
    alsoAccept: [403, 409, 422],
    signal,
  });
  if (response.status === 403) return { outcome: 'unknown-key' };
  if (response.status === 422) return { outcome: 'other-root' };
  if (response.status === 409) return { outcome: 'other-size', size: sizeOf(response) };
  return { outcome: 'cosigned', cosignatures: await cosignaturesOf(witness, checkpoint, response.body) };
}

function sizeOf({ body, contentType }: BoundedResponse): number {
  const text = decodeUtf8(body);
  const size = contentType === TLOG_SIZE && text?.endsWith('\n') ? parseTreeSize(text.slice(0, -1)) : null;
  if (size === null) throw new WitnessFailure('answered 409 without the size that it cosigned last');
  return size;
}

async function cosignaturesOf(
  { keys, now }: WitnessConnection,
  { size, note }: StampedCheckpoint,
  body: Uint8Array,
): Promise<readonly Cosignature[]> {
  const text = parseNote(note)?.text;
  if (text === undefined) throw new WitnessFailure(`was not asked: the note of checkpoint ${size} is malformed`);
  const lines = parseCosignatures(body);
  if (lines === null) throw new WitnessFailure('answered with something other than signature lines');
  const cosignatures: Cosignature[] = [];
  for (const key of keys) {
    const line = lines.find((one) => isCosignatureBy(one, key));
    if (line === undefined) throw new WitnessFailure('answered without a cosignature of a configured key');
    const time = await verifyCosignature(text, line, key);
    if (time === null) throw new WitnessFailure('answered with an invalid cosignature');
    if (Math.abs(time.getTime() - now().getTime()) > CLOCK_TOLERANCE_MS) {
      throw new WitnessFailure('states a time that differs by more than 300 s from this clock');
    }
    cosignatures.push({ size, key: keyLineOf(key), line: line.line, time });
  }
  return cosignatures;
}

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

/** Returns the newest checkpoint that has all its time stamps, or null if there is none. */
export async function readNewestCheckpoint(db: Queryable): Promise<StampedCheckpoint | null> {
  const { rows } = await db.query('select size, note from checkpoints order by size desc limit 1');
  return checkpointRows.parse(rows)[0] ?? null;
}

const sizeRows = z.array(z.object({ size: z.int() })).max(1);

/** Returns the size that a witness cosigned last, or 0 if this service does not know it. */
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
interface Cosignature {
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
 * @param cosignatures cosignatures of one size, at least one
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
