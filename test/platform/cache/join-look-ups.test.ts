import { describe, expect, it } from 'vitest';
import { joinLookUps } from '../../../src/platform/caches.js';

/** Returns a look-up of the length of a text, which lacks empty ones. */
function counted() {
  const loads: (readonly string[])[] = [];
  const state = { fails: false };
  const lookUp = joinLookUps(async (keys: readonly string[]) => {
    loads.push(keys);
    if (state.fails) throw new Error('away');
    return new Map(keys.filter((key) => key !== '').map((key) => [key, key.length]));
  });
  return { loads, state, lookUp };
}

describe('joinLookUps', () => {
  it('joins the look-ups of one turn, each key once', async () => {
    const { loads, lookUp } = counted();
    expect(await Promise.all([lookUp('a'), lookUp('bb'), lookUp('a'), lookUp('')])).toEqual([1, 2, 1, undefined]);
    expect(loads).toEqual([['a', 'bb', '']]);
  });

  it('looks up anew what is asked for after a look-up has begun', async () => {
    const { loads, lookUp } = counted();
    const first = lookUp('a');
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([first, lookUp('a')]);
    expect(loads).toEqual([['a'], ['a']]);
  });

  it('rejects every look-up of a turn that failed, and none of the next one', async () => {
    const { state, lookUp } = counted();
    state.fails = true;
    const failed = await Promise.allSettled([lookUp('a'), lookUp('b')]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    state.fails = false;
    expect(await lookUp('a')).toBe(1);
  });
});
