import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Kept } from '../../../sdk/core/choice.js';
import { readChoice, writeChoice } from '../../../sdk/core/choice-text.js';
import { readClientToken } from '../../../src/api/public/public-verify.js';
import { MAX_ANSWER_BYTES } from '../../../src/tenancy/configuration/problems.js';

const COOKIE_BYTES = 4_096;

const key = fc.stringMatching(/^[a-z0-9_-]{1,50}$/).filter((one) => one !== '__proto__');
const time = fc
  .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const kept: fc.Arbitrary<Kept> = fc.record(
  {
    at: fc.nat(Number.MAX_SAFE_INTEGER),
    key: fc.constant('0123456789abcdef0123456789abcdef'),
    isVoid: fc.boolean(),
    isSignalled: fc.boolean(),
    isPermitted: fc.boolean(),
    wasPermitted: fc.boolean(),
    decision: fc.constantFrom('accepted', 'partial', 'rejected', 'withdrawn'),
    categories: fc.dictionary(key, fc.boolean()).map((one) => ({ ...one })),
    document_version_id: fc.uuid(),
    language: fc.constantFrom('en', 'zh-Hant-TW'),
    consent_token: fc.constant('ct_019d0b7f90c27c4e8d1f5a6b7c8d9e0f'),
    proof_hash: fc.constant('f'.repeat(64)),
    created_at: time,
    ask_again_at: fc.nat(Number.MAX_SAFE_INTEGER),
    exempt: fc.dictionary(key, fc.boolean(), { minKeys: 1 }).map((one) => ({ ...one })),
    opt_out: fc.boolean(),
  },
  {
    requiredKeys: [
      'at',
      'isVoid',
      'isSignalled',
      'isPermitted',
      'wasPermitted',
      'decision',
      'categories',
      'document_version_id',
      'language',
    ],
  },
);

/** A choice with as many bytes as there can be beside its categories. */
const largest = (categories: Record<string, boolean>): Kept => ({
  at: 10 ** 13,
  isVoid: true,
  isSignalled: true,
  isPermitted: true,
  wasPermitted: true,
  decision: 'withdrawn',
  categories,
  document_version_id: '019d0b7f-90c2-7c4e-8d1f-5a6b7c8d9e0f',
  language: 'x'.repeat(35),
  key: 'f'.repeat(32),
  after: 10 ** 13,
  settledAt: 10 ** 13,
  consent_token: 'ct_019d0b7f90c27c4e8d1f5a6b7c8d9e0f',
  proof_hash: 'f'.repeat(64),
  created_at: '2026-01-01T00:00:00.000Z',
  ask_again_at: 10 ** 13,
  opt_out: false,
});

describe('the text of a choice in the cookie', () => {
  test('reads as what was written, in characters that a cookie may contain', () => {
    fc.assert(
      fc.property(kept, (one) => {
        const text = writeChoice(one);
        expect(text).toMatch(/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/);
        expect(readChoice(text)).toEqual(one);
      }),
    );
  });

  test('decodes in public verify, with the categories', () => {
    fc.assert(
      fc.property(kept, (one) => {
        const { decision, categories, language, document_version_id, consent_token } = one;
        const fields = readClientToken(writeChoice(one));
        expect(fields).toMatchObject({ decision, categories, language, document_version_id });
        expect(fields?.consent_token).toBe(consent_token);
      }),
    );
  });

  test('fits into a cookie for every configuration that can be published', () => {
    const keys = Array.from({ length: 100 }, (_, i) => `${'k'.repeat(MAX_ANSWER_BYTES / 100 - 4)}${i}`.padEnd(30, 'x'));
    expect(keys.reduce((sum, one) => sum + one.length + 2, 0)).toBeGreaterThanOrEqual(MAX_ANSWER_BYTES - 100);
    const text = writeChoice(largest(Object.fromEntries(keys.map((one) => [one, false]))));
    const attributes = '; Path=/; Max-Age=34560000; SameSite=Lax; Secure'.length;
    expect('_svc_consent='.length + text.length + attributes).toBeLessThanOrEqual(COOKIE_BYTES);
  });

  test('is read without an order if a backend or an earlier version wrote it as JSON', () => {
    const choice = { decision: 'accepted', categories: { analytics: true }, document_version_id: 'v1', language: 'en' };
    expect(readChoice(encodeURIComponent(JSON.stringify(choice)))).toEqual({
      ...choice,
      at: 0,
      isVoid: false,
      isSignalled: false,
      isPermitted: true,
      wasPermitted: false,
    });
  });

  test.each(['', '%', '%7B', 'null', '[]', '{"decision":"perhaps"}'])('%j is no choice', (text) => {
    expect(readChoice(text)).toBeNull();
  });
});
