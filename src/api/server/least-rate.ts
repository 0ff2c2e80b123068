import type { Writable } from 'node:stream';

/** Average number of bytes per second that a client must read, and the milliseconds over which the average is taken. */
const BYTES_PER_SECOND = 16_000;
const AVERAGED_MS = 30_000;
/** Number of bytes per write: small enough to see the progress of a slow client. */
const PIECE_BYTES = 16_000;

/** The client read too slowly for too long. */
export class TooSlow extends Error {
  override readonly name = 'TooSlow';
}

/**
 * Creates a function that writes to a client, which must read 16 kB a second, averaged over 30 seconds. Only time spent
 * waiting for the client counts, so large bodies and a slow service are no problem. The client starts with 30 s of
 * credit, and regains a second for each 16 kB that it reads.
 * @param now milliseconds of a monotonic clock
 * @returns a function that resolves when the body accepts more bytes. It throws TooSlow, or an error if the body is
 * closed
 */
export function atLeastRate(body: Writable, now: () => number): (bytes: Uint8Array) => Promise<void> {
  let patienceMs = AVERAGED_MS;
  const closed = new Promise<void>((resolve) => body.once('close', resolve));
  const drained = async (): Promise<void> => {
    const startedAt = now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), patienceMs);
    });
    const taken = new Promise<'taken'>((resolve) => body.once('drain', () => resolve('taken')));
    const result = await Promise.race([closed, taken, late]).finally(() => clearTimeout(timer));
    if (result === 'late') throw new TooSlow('the client took less than 16 kB a second');
    patienceMs -= now() - startedAt;
  };
  return async (bytes) => {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      if (body.destroyed) throw new Error('the client closed the connection');
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      if (!body.write(piece)) await drained();
      patienceMs = Math.min(AVERAGED_MS, Math.max(0, patienceMs) + (piece.length * 1000) / BYTES_PER_SECOND);
    }
  };
}
