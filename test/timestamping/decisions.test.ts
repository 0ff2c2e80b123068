import { describe, expect, it } from 'vitest';
import { judgeTime } from '../../src/timestamping/authorities.js';
import { afterFailure, HEALTHY, whomToAsk } from '../../src/timestamping/client.js';
import { AnswerCache, keepFor } from '../../src/timestamping/revocation.js';

const NOW = new Date('2026-01-01T00:00:00Z');
const seconds = (count: number) => new Date(NOW.getTime() + count * 1000);
const at = (count: number, accuracyMicroseconds?: number) => ({ genTime: seconds(count), accuracyMicroseconds });

describe('judgeTime', () => {
  it.each([
    ['now', 0, 'accept'],
    ['60 s behind the request', -60, 'accept'],
    ['61 s behind', -61, 'refuse'],
    ['60 s ahead of the answer', 62, 'accept'],
    ['63 s ahead', 63, 'refuse'],
  ] as const)('%s: %s s', (_name, offset, verdict) => {
    expect(judgeTime(at(offset), undefined, NOW, seconds(2)).verdict).toBe(verdict);
  });

  it.each([
    ['after the previous', at(0), at(-5), 'accept'],
    ['a second before it', at(0), at(1), 'accept'],
    ['two seconds before it', at(0), at(2), 'ask-again'],
    ['within both accuracies and a second', at(0, 500_000), at(2, 500_000), 'accept'],
    ['beyond both accuracies and a second', at(0, 500_000), at(3, 500_000), 'ask-again'],
  ] as const)('%s', (_name, stated, previous, verdict) => {
    expect(judgeTime(stated, previous, NOW, NOW).verdict).toBe(verdict);
  });

  it('pauses until an honest clock has passed the earlier time, ten seconds at most', () => {
    expect(judgeTime(at(0), at(3), NOW, NOW)).toEqual({ verdict: 'ask-again', pauseMs: 2100 });
    expect(judgeTime(at(0), at(50), NOW, NOW)).toEqual({ verdict: 'ask-again', pauseMs: 10_000 });
  });
});

describe('back-off', () => {
  const limits = { firstMs: 1000, longestMs: 60_000 };

  it('doubles up to the longest pause', () => {
    let health = HEALTHY;
    const pauses = Array.from({ length: 9 }, () => {
      health = afterFailure(health, 0, limits, 0.9999999);
      return health.notBefore;
    });
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(afterFailure({ failures: 10_000, notBefore: 0 }, 5, limits, 0).notBefore).toBe(45_005);
  });

  it('asks the authorities without a pause, in the configured order', () => {
    const authorities = [
      { url: 'a', health: { failures: 1, notBefore: 100 } },
      { url: 'b', health: HEALTHY },
      { url: 'c', health: { failures: 1, notBefore: 50 } },
    ];
    expect(whomToAsk(authorities, 60, limits).ask.map(({ url }) => url)).toEqual(['b', 'c']);
    expect(whomToAsk(authorities.slice(0, 1), 60, limits)).toEqual({ ask: [], nextAt: 100 });
  });
});

describe('answer cache', () => {
  it('stays within its limits, and evicts the oldest first', () => {
    const cache = new AnswerCache(2, 10);
    cache.set('a', new Uint8Array(4), 100);
    cache.set('b', new Uint8Array(4), 100);
    cache.set('c', new Uint8Array(4), 100);
    expect(cache.get('a', 0)).toBeUndefined();
    expect(cache.get('b', 0)).toHaveLength(4);
    cache.set('d', new Uint8Array(9), 100);
    expect(cache.get('b', 0)).toBeUndefined();
    expect(cache.get('d', 0)).toHaveLength(9);
    cache.set('d', new Uint8Array(11), 100);
    expect(cache.get('d', 0)).toBeUndefined();
    cache.set('e', new Uint8Array(1), 100);
    expect(cache.get('e', 99)).toHaveLength(1);
    expect(cache.get('e', 100)).toBeUndefined();
  });

  it('keeps a response as long as the server and nextUpdate allow', () => {
    const now = NOW.getTime();
    expect(keepFor('no-store', undefined, now)).toBe(0);
    expect(keepFor('public, no-cache', undefined, now)).toBe(0);
    expect(keepFor('max-age=30', undefined, now)).toBe(30_000);
    expect(keepFor('max-age=86400', undefined, now)).toBe(600_000);
    expect(keepFor('', undefined, now)).toBe(600_000);
    expect(keepFor('', seconds(5), now)).toBe(5000);
    expect(keepFor('', seconds(-5), now)).toBe(0);
  });
});
