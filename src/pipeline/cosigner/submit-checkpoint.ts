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
import { type BoundedResponse, exchange, type Fetch } from '../../timestamping/http.js';
import type { Cosignature, StampedCheckpoint } from './witness-store.js';

/** Difference between the time of a cosignature and this clock at which it is refused. */
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
  /** Keys of which the witness must return a cosignature each, at least one. */
  readonly keys: readonly VerifierKey[];
  readonly fetch: Fetch;
  /** Milliseconds for one request. */
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
