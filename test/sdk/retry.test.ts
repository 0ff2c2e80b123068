import { describe, expect, test } from 'vitest';
import { backOffMs, isRetried, retryAfterMs } from '../../sdk/shared/retry.js';

describe('retries', () => {
  test('of 408, 425, 429 and 5xx, and of nothing else', () => {
    const retried = Array.from({ length: 600 }, (_, status) => status).filter(
      (status) => status >= 200 && isRetried(status),
    );
    expect(retried).toEqual([408, 425, 429, ...Array.from({ length: 100 }, (_, i) => 500 + i)]);
  });

  test('Retry-After is seconds or a date; anything else counts as absent', () => {
    const now = Date.parse('2026-01-31T12:00:00Z');
    expect(retryAfterMs('7', now)).toBe(7_000);
    expect(retryAfterMs('Sat, 31 Jan 2026 12:01:00 GMT', now)).toBe(60_000);
    expect(retryAfterMs('Sat, 31 Jan 2026 11:00:00 GMT', now)).toBe(0);
    expect(retryAfterMs('soon', now)).toBeNull();
    expect(retryAfterMs(null, now)).toBeNull();
  });

  test('the wait doubles to a minute, in its upper half', () => {
    expect([1, 2, 3, 4, 20].map((attempt) => backOffMs(attempt, 1))).toEqual([1_000, 2_000, 4_000, 8_000, 60_000]);
    expect(backOffMs(3, 0)).toBe(2_000);
  });
});
