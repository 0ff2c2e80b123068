import { concatBytes } from '../../../schemas/crypto/encoding.js';

/** A line of an NDJSON file without its line feed, or what is wrong with the file from here on. */
export type Line =
  | { readonly ok: true; readonly number: number; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly number: number; readonly reason: string };

const LINE_FEED = 0x0a;

/**
 * Splits a stream of bytes into lines, each ended by one LF.
 * @param maxBytes longest line accepted
 */
export async function* splitLines(pieces: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Line, void> {
  let number = 1;
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  for await (const piece of pieces) {
    let start = 0;
    while (start < piece.length) {
      const end = piece.indexOf(LINE_FEED, start);
      const part = piece.subarray(start, end < 0 ? piece.length : end);
      if (pendingBytes + part.length > maxBytes) {
        yield { ok: false, number, reason: `the line is longer than ${maxBytes} bytes` };
        return;
      }
      if (end < 0) {
        pending.push(part);
        pendingBytes += part.length;
        break;
      }
      yield { ok: true, number, bytes: pending.length === 0 ? part : concatBytes(...pending, part) };
      pending = [];
      pendingBytes = 0;
      number += 1;
      start = end + 1;
    }
  }
  if (pendingBytes > 0) yield { ok: false, number, reason: 'the last line has no line feed' };
}
