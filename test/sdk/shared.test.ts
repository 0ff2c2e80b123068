import { describe, expect, test } from 'vitest';
import { directionOf, labelOf } from '../../sdk/browser/src/banner/labels.js';
import { decisionOf, isInForce, validUntil } from '../../sdk/browser/src/choice.js';
import type { Configuration } from '../../sdk/browser/src/guards.js';
import { backOffMs, isRetried, retryAfterMs } from '../../sdk/shared/retry.js';

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

describe('labels', () => {
  test('are of the configuration, else built in, else English and marked as such', () => {
    expect(labelOf('save', { save: 'Keep' }, 'en')).toEqual({ text: 'Keep', language: 'en' });
    expect(labelOf('save', {}, 'de-AT')).toEqual({ text: 'Auswahl speichern', language: 'de-AT' });
    expect(labelOf('save', {}, 'cy')).toEqual({ text: 'Save choice', language: 'en' });
  });

  test.each(['en', 'tr', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv', 'ru', 'ar', 'he', 'fa'])(
    'are complete in %s',
    (language) => {
      const names = [
        'accept',
        'reject',
        'settings',
        'save',
        'always_on',
        'cookies',
        'close',
        'saved',
        'language',
      ] as const;
      const texts = names.map((name) => labelOf(name, {}, language));
      expect(texts.every(({ text, language: own }) => text.length > 1 && own === language)).toBe(true);
      expect(texts.some(({ text }) => names.some((name) => name === text))).toBe(false);
    },
  );

  test.each([
    ['ar', 'rtl'],
    ['fa-IR', 'rtl'],
    ['az-Arab', 'rtl'],
    ['en', 'ltr'],
    ['arn', 'ltr'],
  ] as const)('%s is written %s', (language, direction) => {
    expect(directionOf(language)).toBe(direction);
  });
});
