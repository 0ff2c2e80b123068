import { describe, expect, test } from 'vitest';
import { decisionOf, isInForce, validUntil } from '../../../sdk/core/choice.js';
import { configurationIn } from './model/site.js';

const CONFIGURATION = configurationIn(null);
const choice = (categories: Record<string, boolean>, version = 'v1') => ({
  decision: 'partial',
  categories,
  document_version_id: version,
  language: 'en',
});

describe('a choice', () => {
  test.each([
    [{ analytics: true, marketing: true }, false, 'accepted'],
    [{ analytics: true }, false, 'partial'],
    [{}, false, 'rejected'],
    [{}, true, 'withdrawn'],
    [{ marketing: true }, true, 'partial'],
  ] as const)('of %j, after a permission: %s, is %s', (chosen, wasPermitted, decision) => {
    expect(decisionOf(CONFIGURATION, chosen, wasPermitted)).toBe(decision);
  });

  test('is in force for the same version of the policy and every optional category', () => {
    const both = { analytics: false, marketing: false };
    expect(isInForce(choice(both), CONFIGURATION)).toBe(true);
    expect(isInForce(choice(both, 'v2'), CONFIGURATION)).toBe(false);
    expect(isInForce(choice({ analytics: false }), CONFIGURATION)).toBe(false);
  });

  test('is valid for the days of the site', () => {
    expect(validUntil('2026-01-01T00:00:00.000Z', CONFIGURATION)).toBe('2026-06-30T00:00:00.000Z');
    expect(validUntil('2026-01-01T00:00:00.000Z', { ...CONFIGURATION, validity_days: null })).toBeNull();
  });
});
