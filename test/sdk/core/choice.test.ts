import { describe, expect, test } from 'vitest';
import { completed, isInForce, isOver, type Kept } from '../../../sdk/core/choice.js';
import { newestOf } from '../../../sdk/core/newest.js';
import { chosen } from '../../../sdk/core/transitions.js';
import { configurationIn } from './model/site.js';

const CONFIGURATION = configurationIn(null);
const choice = (categories: Record<string, boolean>, version = 'v1', isPermitted = true): Kept => ({
  decision: isPermitted ? 'partial' : 'rejected',
  isPermitted,
  wasPermitted: false,
  isVoid: false,
  isSignalled: false,
  categories,
  document_version_id: version,
  language: 'en',
  at: 0,
});

const DAY_MS = 86_400_000;
const made = (now: number, categories: Record<string, boolean>, configuration = CONFIGURATION) =>
  chosen(null, { categories }, configuration, { now, key: 'k', isSignalled: false, queue: () => [] });

describe('a choice', () => {
  test.each([
    [{ analytics: true, marketing: true }, false, 'accepted'],
    [{ analytics: true }, false, 'partial'],
    [{}, false, 'rejected'],
    [{}, true, 'withdrawn'],
    [{ marketing: true }, true, 'partial'],
  ] as const)('of %j, after a permission: %s, is %s', (chosen, wasPermitted, decision) => {
    expect(completed(CONFIGURATION, { categories: chosen }, wasPermitted).decision).toBe(decision);
  });

  test('is in force for the same version of the policy and every optional category', () => {
    const both = { analytics: false, marketing: false };
    expect(isInForce(choice(both), CONFIGURATION)).toBe(true);
    expect(isInForce(choice(both, 'v2'), CONFIGURATION)).toBe(false);
    expect(isInForce(choice({ analytics: false }), CONFIGURATION)).toBe(false);
    // A refusal stands, whatever the policy says now.
    expect(isInForce(choice(both, 'v2', false), CONFIGURATION)).toBe(true);
    expect(isInForce(choice({ analytics: false }, 'v1', false), CONFIGURATION)).toBe(false);
  });

  test('lasts for the days of the site, a refusal for its own', () => {
    const [permission, refusal] = [made(0, { marketing: true }), made(0, {})];
    for (const [one, days] of [
      [permission, 180],
      [refusal, 200],
    ] as const) {
      expect(one?.ask_again_at).toBe(days * DAY_MS);
      expect(one && isOver(one, days * DAY_MS - 1)).toBe(false);
      expect(one && isOver(one, days * DAY_MS)).toBe(true);
    }
    const without = { ...CONFIGURATION, validity_days: null, refusal_days: null };
    expect(made(0, {}, without)?.ask_again_at).toBeUndefined();
    expect(made(0, { marketing: true }, without)?.ask_again_at).toBeUndefined();
  });
});

describe('the choice that counts', () => {
  const [permission, refusal] = [made(2_000, { marketing: true }), made(1_000, {})];
  const found = (one: typeof permission) => (one === null ? [] : [one]);

  test('is that of the page if the cookie holds an earlier one, and that of the cookie if it is not later', () => {
    expect(newestOf(found(refusal), permission, 3_000)).toBe(permission);
    expect(newestOf(found(permission), refusal, 3_000)).toBe(permission);
    const recorded = permission && { ...permission, key: undefined };
    expect(newestOf(found(recorded), permission, 3_000)).toBe(recorded);
  });

  test('is the refusal once a permission of the page shows that the clock was wrong', () => {
    const later = made(10 ** 6, { marketing: true });
    expect(newestOf(found(refusal), later, 2_000)).toEqual({ ...refusal, at: 10 ** 6 });
  });
});
