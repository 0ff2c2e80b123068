import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ledgerTurns } from '../../../src/api/checkpoints/serve-documents.js';

const DAY_MS = 86_400_000;
const MILLION = 1_000_000;
/** Milliseconds that a leaf may cost. */
const LEAF_MS = 40;
/** Files that an auditor asks for ahead. */
const AHEAD = 16;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('let one auditor at one address read a million leaves in less than a day, without a refusal', async () => {
  const turns = ledgerTurns(() => Date.now());
  const startedAt = Date.now();
  const ends: number[] = [];
  let next = 0;
  const read = async (): Promise<void> => {
    while (next < 500) {
      next += 1;
      await turns.take('auditor', () => new Promise((resolve) => setTimeout(resolve, LEAF_MS)));
      ends.push(Date.now() - startedAt);
    }
  };
  const reading = Promise.all(Array.from({ length: AHEAD }, read));
  await vi.runAllTimersAsync();
  await reading;
  // The place of each leaf stays empty for as long as the leaf took: for other requests.
  expect(ends).toEqual(Array.from({ length: 500 }, (_, i) => LEAF_MS * (2 * i + 1)));
  expect(((ends.at(-1) ?? 0) / ends.length) * MILLION).toBeLessThan(DAY_MS);
});

it('refuse an address whose requests wait in great number, and nobody else', async () => {
  const turns = ledgerTurns(() => Date.now());
  const take = (owner: string) => turns.take(owner, () => new Promise((resolve) => setTimeout(resolve, LEAF_MS)));
  const asked = [...new Array<string>(34).fill('flood'), 'other'].map(take);
  const ends = Promise.allSettled(asked);
  await vi.runAllTimersAsync();
  const refused = (await ends).flatMap((end, index) => (end.status === 'rejected' ? [index] : []));
  expect(refused).toEqual([33]);
  await expect(asked[33]).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', details: { retryAfterSeconds: 2 } });
});
