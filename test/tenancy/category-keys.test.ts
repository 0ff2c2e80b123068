import { expect, test } from 'vitest';
import type { SiteConfigDraft } from '../../schemas/api/panel/configuration.js';
import { MAX_ANSWER_BYTES, problemsOf } from '../../src/tenancy/configuration/problems.js';

const draftWith = (keys: readonly string[]): SiteConfigDraft => ({
  controller: { legal_name: 'Shop', contact: 'shop@example.org' },
  default_language: 'en',
  languages: ['en'],
  validity_days: 180,
  banner: {},
  withdrawal: { en: 'In the settings.' },
  categories: keys.map((key) => ({
    key,
    required: false,
    title: { en: key },
    purpose: { en: key },
    lawful_basis: 'consent',
    personal_data: [],
    recipients: [],
    retention_days: null,
  })),
  cookies: [],
});
const keys = (count: number, length: number) => Array.from({ length: count }, (_, i) => `${i}`.padStart(length, 'k'));

test('a configuration whose choice fits into its cookie can be published', () => {
  expect(problemsOf(draftWith(keys(100, MAX_ANSWER_BYTES / 100 - 2)), null)).toEqual([]);
});

test('one whose choice does not fit is refused, and the message says what to do', () => {
  const problems = problemsOf(draftWith(keys(100, MAX_ANSWER_BYTES / 100 - 1)), null);
  expect(problems).toEqual([{ field: 'categories', message: expect.stringContaining('shorter keys') }]);
});

test('a time zone that this runtime does not know is refused, and the message names one that it knows', () => {
  const zoned = (time_zone: string) => problemsOf({ ...draftWith(keys(1, 5)), time_zone }, null);
  expect([zoned('Europe/Istanbul'), zoned('Asia/Calcutta'), zoned('UTC')]).toEqual([[], [], []]);
  expect(zoned('Mars/Olympus')).toEqual([{ field: 'time_zone', message: expect.stringContaining('Europe/Istanbul') }]);
});
