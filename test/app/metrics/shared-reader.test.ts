import { expect, it } from 'vitest';
import { createSharedReader } from '../../../src/app/metrics/state-metrics.js';

/** A read that ends when the test resolves it. */
function controlled() {
  const ends: ((value: number) => void)[] = [];
  const read = () => new Promise<number>((resolve) => ends.push(resolve));
  return { ends, read };
}

it('shares one read between concurrent callers, and its value with callers soon after', async () => {
  const { ends, read } = controlled();
  const ask = createSharedReader({ read, freshMs: 60_000, waitMs: 60_000, staleMs: 60_000 });
  const asked = [ask(), ask(), ask()];
  expect(ends).toHaveLength(1);
  ends[0]?.(7);
  expect(await Promise.all(asked)).toEqual([7, 7, 7]);
  expect(await ask()).toBe(7);
  expect(ends).toHaveLength(1);
});

it('limits the wait, starts no second read meanwhile, and falls back to the previous value', async () => {
  const { ends, read } = controlled();
  const ask = createSharedReader({ read, freshMs: 0, waitMs: 20, staleMs: 60_000 });
  expect(await ask()).toBeNull();
  expect(await ask()).toBeNull();
  expect(ends).toHaveLength(1);
  ends[0]?.(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await ask()).toBe(1);
  expect(ends).toHaveLength(2);
});
