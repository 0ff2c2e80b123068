import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { atLeastRate, TooSlow } from '../../../src/api/server/least-rate.js';

const PIECE = 16_000;
let taken: number;
let ended: 'whole' | 'too slow' | null;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Sends to a client that takes what its rate lets it take, each second. @param rate bytes a second, by second */
async function send(bytes: number, seconds: number, rate: (second: number) => number): Promise<void> {
  const body = new PassThrough({ highWaterMark: 1 });
  taken = 0;
  ended = null;
  const sending = atLeastRate(body, () => Date.now())(new Uint8Array(bytes)).then(
    () => 'whole' as const,
    (error: unknown) => {
      if (error instanceof TooSlow) return 'too slow' as const;
      throw error;
    },
  );
  sending.then((result) => {
    ended = result;
  });
  let allowed = 0;
  for (let second = 0; second < seconds && ended === null; second += 1) {
    await vi.advanceTimersByTimeAsync(1_000);
    for (allowed += rate(second); allowed >= PIECE && body.readableLength > 0; allowed -= PIECE) {
      const piece: unknown = body.read();
      taken += piece instanceof Uint8Array ? piece.length : 0;
      await vi.advanceTimersByTimeAsync(0);
    }
  }
}

it('lets a client take a body for as long as its size needs at 16 kB a second', async () => {
  await send(PIECE * 7_200, 7_300, () => PIECE);
  expect(ended).toBe('whole');
});

it('gives up on a client that takes 4 kB a second', async () => {
  await send(PIECE * 7_200, 7_200, () => 4_000);
  expect(ended).toBe('too slow');
  // 30 s, and one more for each 16 kB that it took.
  expect(taken).toBeLessThanOrEqual(PIECE * 12);
});

it('lets a client rest for less than 30 seconds, and not for longer, however much it took before', async () => {
  const resting = (seconds: number) => (second: number) => (second < 100 || second >= 100 + seconds ? 5 * PIECE : 0);
  await send(PIECE * 1_000, 1_000, resting(28));
  expect(ended).toBe('whole');
  await send(PIECE * 1_000, 1_000, resting(32));
  expect(ended).toBe('too slow');
});

it('does not count the time in which there is nothing to take', async () => {
  const body = new PassThrough();
  body.resume();
  const write = atLeastRate(body, () => Date.now());
  for (let i = 0; i < 3; i += 1) {
    await write(new Uint8Array(10));
    await vi.advanceTimersByTimeAsync(120_000);
  }
  expect(body.destroyed).toBe(false);
});

it('ends when the client closes the connection', async () => {
  const body = new PassThrough({ highWaterMark: 1 });
  const writing = atLeastRate(body, () => Date.now())(new Uint8Array(3 * PIECE));
  body.destroy();
  await expect(writing).rejects.toThrow('closed the connection');
});
