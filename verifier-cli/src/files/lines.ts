import { concatBytes, textOfBytes } from '../../../schemas/crypto/encoding.js';
import { type Finding, finding } from '../findings/finding.js';

/** Whole lines of an NDJSON file in order, each with its LF. */
export class LineBlock {
  #text: string | null = null;

  /** @param number number of its first line, from 1 */
  constructor(
    readonly number: number,
    readonly bytes: Uint8Array,
  ) {}

  /** The same bytes, each as one character; ASCII characters are unchanged. */
  get text(): string {
    this.#text ??= textOfBytes(this.bytes);
    return this.#text;
  }
}

/** Why a file cannot be read beyond some line. */
export interface LineProblem {
  readonly number: number;
  readonly reason: Finding;
}

export const LINE_FEED = 0x0a;

/**
 * Splits a stream of bytes into blocks of lines, each of which ends with one LF.
 * @param maxBytes longest line accepted
 */
export async function* splitLines(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<LineBlock | LineProblem, void> {
  let number = 1;
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for await (const piece of pieces) {
    const first = piece.indexOf(LINE_FEED);
    if (pendingBytes + (first < 0 ? piece.length : first) > maxBytes) {
      yield { number, reason: tooLong(maxBytes) };
      return;
    }
    if (first < 0) {
      pending.push(piece);
      pendingBytes += piece.length;
      continue;
    }
    const rest = pending.length === 0 ? 0 : first + 1;
    if (rest > 0) {
      yield new LineBlock(number, concatBytes(...pending, piece.subarray(0, rest)));
      number += 1;
    }
    const end = piece.lastIndexOf(LINE_FEED) + 1;
    if (end > rest) {
      const block = piece.subarray(rest, end);
      yield new LineBlock(number, block);
      number += countLines(block);
    }
    pending = end < piece.length ? [piece.subarray(end)] : [];
    pendingBytes = piece.length - end;
  }
  if (pendingBytes > maxBytes) yield { number, reason: tooLong(maxBytes) };
  else if (pendingBytes > 0) yield { number, reason: finding('line-feed-missing') };
}

export function tooLong(maxBytes: number): Finding {
  return finding('line-too-long', { limit: maxBytes });
}

function countLines(block: Uint8Array): number {
  let lines = 0;
  for (let at = block.indexOf(LINE_FEED); at >= 0; at = block.indexOf(LINE_FEED, at + 1)) lines += 1;
  return lines;
}
