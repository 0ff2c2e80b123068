import { expect, test } from 'vitest';
import { type PublishedPolicy, policyPace } from '../../../src/pipeline/ledger/policy.js';

const HOUR = 3_600_000;
const NOW = 1_000 * HOUR;
const policy = (sealWithinSeconds: number, stampWithinSeconds: number, stampedAt: number | null): PublishedPolicy => ({
  sealWithinSeconds,
  stampWithinSeconds,
  stampedAt,
});
const pace = (...policies: PublishedPolicy[]) => policyPace(policies, NOW);

test('a ledger without a policy keeps half of the default delays', () => {
  expect(pace()).toEqual({ sealMs: 300_000, stampMs: 1_800_000, isSettled: true });
});

test('a first policy with longer delays counts once records before its stamp must be stamped', () => {
  const long = (stampedAt: number | null) => policy(172_800, 172_800, stampedAt);
  const careful = { sealMs: 300_000, stampMs: 1_800_000, isSettled: false };
  expect(pace(long(null))).toEqual(careful);
  // The default delays are 70 min, and clocks may differ by 5 min.
  expect(pace(long(NOW - 1.25 * HOUR + 1))).toEqual(careful);
  expect(pace(long(NOW - 1.25 * HOUR))).toEqual({ sealMs: 86_400_000, stampMs: 86_400_000, isSettled: true });
});

test('the shortest delays count of all policies that are not settled', () => {
  const old = policy(10, 600, NOW - 1000 * HOUR);
  expect(pace(old, policy(7200, 60, NOW - 100 * HOUR), policy(3600, 3600, NOW))).toEqual({
    sealMs: 1_800_000,
    stampMs: 30_000,
    isSettled: false,
  });
  expect(pace(old, policy(7200, 60, null), policy(3600, 3600, null))).toEqual({
    sealMs: 5_000,
    stampMs: 30_000,
    isSettled: false,
  });
});

test('a shorter delay counts at once', () => {
  expect(pace(policy(7200, 7200, NOW - 100 * HOUR), policy(20, 30, null))).toMatchObject({
    sealMs: 10_000,
    stampMs: 15_000,
  });
});
