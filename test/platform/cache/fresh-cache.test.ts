import { describe, expect, it } from 'vitest';
import { createFreshCache } from '../../../src/platform/caches.js';

/** Returns a cache of a counter with a clock that the test sets. */
function counted(maxEntries = 10) {
  const state = { now: 0, loads: 0, fails: false };
  const cache = createFreshCache<string, number>({
    maxAgeMs: 1000,
    maxEntries,
    now: () => state.now,
    load: async () => {
      state.loads += 1;
      if (state.fails) throw new Error('away');
      return state.loads;
    },
  });
  return { state, cache };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('createFreshCache', () => {
  it('shares one look-up among concurrent callers', async () => {
    const { state, cache } = counted();
    expect(await Promise.all([cache.get('a'), cache.get('a'), cache.get('a')])).toEqual([1, 1, 1]);
    expect(state.loads).toBe(1);
  });

  it('renews a value in use before it is too old, without making a caller wait', async () => {
    const { state, cache } = counted();
    await cache.get('a');
    state.now = 600;
    expect(await cache.get('a')).toBe(1);
    await settled();
    expect(await cache.get('a')).toBe(2);
    expect(state.loads).toBe(2);
  });

  it('never returns a value that is too old, even if look-ups fail', async () => {
    const { state, cache } = counted();
    await cache.get('a');
    state.fails = true;
    state.now = 900;
    expect(await cache.get('a')).toBe(1);
    await settled();
    state.now = 1001;
    await expect(cache.get('a')).rejects.toThrow('away');
    state.fails = false;
    expect(await cache.get('a')).toBe(4);
  });

  it('measures the age from the start of the look-up', async () => {
    const state = { now: 0, loads: 0 };
    const cache = createFreshCache<string, number>({
      maxAgeMs: 1000,
      maxEntries: 10,
      now: () => state.now,
      load: async () => {
        state.now += 800;
        state.loads += 1;
        return state.loads;
      },
    });
    await cache.get('a');
    state.now = 1001;
    expect(await cache.get('a')).toBe(2);
  });

  it('removes the oldest entry beyond its limit', async () => {
    const { state, cache } = counted(2);
    for (const key of ['a', 'b', 'c', 'b', 'c']) await cache.get(key);
    expect(state.loads).toBe(3);
    await cache.get('a');
    expect(state.loads).toBe(4);
  });
});
