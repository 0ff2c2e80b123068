import { expect, it } from 'vitest';
import { createByteCache } from '../../../src/platform/caches.js';

const cacheOf = (maxBytes: number, maxEntryBytes = maxBytes) => {
  const cache = createByteCache({ maxBytes, maxEntryBytes });
  const loaded: string[] = [];
  const get = (key: string, length: number) =>
    cache.get(key, async () => {
      loaded.push(key);
      return new Uint8Array(length);
    });
  return { cache, loaded, get };
};

it('computes bytes once, also for callers at the same time', async () => {
  const { get, loaded } = cacheOf(100);
  const [first, second] = await Promise.all([get('a', 10), get('a', 10)]);
  expect(second).toBe(first);
  expect(await get('a', 10)).toBe(first);
  expect(loaded).toEqual(['a']);
});

it('keeps no more bytes than it may, and those that were used last', async () => {
  const { get, loaded } = cacheOf(100);
  for (const key of ['a', 'b', 'a', 'c']) await get(key, 40);
  expect(loaded).toEqual(['a', 'b', 'c']);
  for (const key of ['a', 'c', 'b']) await get(key, 40);
  expect(loaded).toEqual(['a', 'b', 'c', 'b']);
});

it('returns a value that is too large, and keeps what it has', async () => {
  const { get, loaded } = cacheOf(100, 50);
  for (const [key, length] of [
    ['a', 50],
    ['large', 51],
    ['large', 51],
    ['a', 50],
  ] as const)
    expect(await get(key, length)).toHaveLength(length);
  expect(loaded).toEqual(['a', 'large', 'large']);
});

it('keeps no failure', async () => {
  const { cache, get } = cacheOf(100);
  const failing = () => Promise.reject(new Error('the tables differ'));
  await expect(cache.get('a', failing)).rejects.toThrow('the tables differ');
  expect(await get('a', 1)).toHaveLength(1);
});
