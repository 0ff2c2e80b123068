import { describe, expect, test } from 'vitest';
import type { Configuration } from '../../../sdk/core/answers.js';
import { decisionOf, isInForce, validUntil } from '../../../sdk/core/choice.js';

const category = (key: string, required: boolean) => ({
  key,
  required,
  title: key,
  purpose: key,
  recipients: [],
  cookies: [],
});
const CONFIGURATION: Configuration = {
  language: 'en',
  languages: ['en'],
  validity_days: 180,
  banner: {},
  withdrawal: null,
  controller: { legal_name: 'Shop', contact: 'shop@example.org' },
  categories: [category('necessary', true), category('analytics', false), category('marketing', false)],
  documents: [
    {
      slug: 'cookie-policy',
      kind: 'cookie_policy',
      requires_approval_token: false,
      version: { id: 'v1', language: 'en', title: 'Cookie policy', media_type: 'text/plain' },
    },
  ],
  region: { country: null, compliance_framework: null },
};
const choice = (categories: Record<string, boolean>, version = 'v1') => ({
  decision: 'partial',
  categories,
  document_version_id: version,
  language: 'en',
});

describe('a choice', () => {
  test.each([
    [{ analytics: true, marketing: true }, null, 'accepted'],
    [{ analytics: true }, null, 'partial'],
    [{}, null, 'rejected'],
    [{}, choice({ necessary: true, analytics: true }), 'withdrawn'],
    [{}, choice({ necessary: true, analytics: false }), 'rejected'],
    [{ marketing: true }, choice({ analytics: true }), 'partial'],
  ] as const)('of %j after %j is %s', (chosen, before, decision) => {
    expect(decisionOf(CONFIGURATION, chosen, before)).toBe(decision);
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
