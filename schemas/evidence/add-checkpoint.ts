import { decodeUtf8, fromBase64, toBase64 } from '../crypto/encoding.js';
import { HASH_LENGTH } from '../merkle/hashing.js';

/** A request to a witness (c2sp.org/tlog-witness, `add-checkpoint`). */
export interface AddCheckpoint {
  /** Size of the checkpoint that the witness signed last; 0 if it never signed one. */
  readonly oldSize: number;
  /** Consistency proof from `oldSize`; 32 bytes each. */
  readonly proof: readonly Uint8Array[];
  /** The exact text of the signed note. */
  readonly note: string;
}

/** Path of the request below a witness's submission prefix. */
export const ADD_CHECKPOINT = 'add-checkpoint';
/** Content type of the 409 answer, which holds the size that the witness signed last. */
export const TLOG_SIZE = 'text/x.tlog.size';
/** Largest request body that the witness of this project reads, in bytes. */
export const MAX_ADD_CHECKPOINT_BYTES = 256 * 1024;
const MAX_PROOF_LINES = 63;

/** The body of a request. */
export function formatAddCheckpoint({ oldSize, proof, note }: AddCheckpoint): string {
  return `old ${oldSize}\n${proof.map((hash) => `${toBase64(hash)}\n`).join('')}\n${note}`;
}

/** @returns null if the bytes are not the body of a request */
export function parseAddCheckpoint(bytes: Uint8Array): AddCheckpoint | null {
  const text = bytes.length > MAX_ADD_CHECKPOINT_BYTES ? null : decodeUtf8(bytes);
  const end = text === null ? -1 : text.indexOf('\n\n');
  if (text === null || end < 0) return null;
  const [old = '', ...lines] = text.slice(0, end).split('\n');
  const oldSize = old.startsWith('old ') ? parseTreeSize(old.slice('old '.length)) : null;
  if (oldSize === null || lines.length > MAX_PROOF_LINES) return null;
  const proof: Uint8Array[] = [];
  for (const line of lines) {
    const hash = fromBase64(line);
    if (hash?.length !== HASH_LENGTH) return null;
    proof.push(hash);
  }
  return { oldSize, proof, note: text.slice(end + 2) };
}

/** The body of a 409 answer: the size in decimal and a line feed. */
export function formatTreeSize(size: number): string {
  return `${size}\n`;
}

/** @returns null if the text is not a size in decimal without leading zeroes, below 2^53 */
export function parseTreeSize(text: string): number | null {
  return /^(?:0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;
}
