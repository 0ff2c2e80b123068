import { expect, test } from 'vitest';
import type { SiteConfigDraft } from '../../schemas/api/panel/configuration.js';
import { WithdrawalUrl } from '../../schemas/events/site-config.js';
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
const SITE = { domain: 'shop.example', proof: 'dns' } as const;
const keys = (count: number, length: number) => Array.from({ length: count }, (_, i) => `${i}`.padStart(length, 'k'));

test('a configuration whose choice fits into its cookie can be published', () => {
  expect(problemsOf(draftWith(keys(100, MAX_ANSWER_BYTES / 100 - 2)), null, SITE)).toEqual([]);
});

test('one whose choice does not fit is refused, and the message says what to do', () => {
  const problems = problemsOf(draftWith(keys(100, MAX_ANSWER_BYTES / 100 - 1)), null, SITE);
  expect(problems).toEqual([{ field: 'categories', message: expect.stringContaining('shorter keys') }]);
});

test('a time zone that this runtime does not know is refused, and the message names one that it knows', () => {
  const zoned = (time_zone: string) => problemsOf({ ...draftWith(keys(1, 5)), time_zone }, null, SITE);
  expect([zoned('Europe/Istanbul'), zoned('Asia/Calcutta'), zoned('UTC')]).toEqual([[], [], []]);
  expect(zoned('Mars/Olympus')).toEqual([{ field: 'time_zone', message: expect.stringContaining('Europe/Istanbul') }]);
});

test('an address for withdrawals must be on the proved domain, and below it only where the proof covers that', () => {
  const at = (withdrawal_url: string, proof: 'dns' | 'file' | 'meta' | 'operator' | null = 'dns') =>
    problemsOf({ ...draftWith(keys(1, 5)), withdrawal_url }, null, { domain: 'shop.example', proof }).map(
      ({ field }) => field,
    );
  const refused = ['withdrawal_url'];
  for (const proof of ['dns', 'operator', null] as const)
    expect([at('https://shop.example', proof), at('https://my.shop.example/a?b#c', proof)]).toEqual([[], []]);
  for (const proof of ['file', 'meta'] as const)
    expect([at('https://shop.example/', proof), at('https://my.shop.example/', proof)]).toEqual([[], refused]);
  const others = [
    'shop.example.evil.example',
    'evilshop.example',
    'example',
    'xn--shp-tna.example',
    'evil.example/shop.example',
  ];
  for (const other of others) expect(at(`https://${other}`), other).toEqual(refused);
});

test.each([
  'javascript:alert(1)',
  'http://shop.example/',
  'https://user@shop.example/',
  'https://shop.example:443/',
  'https://shop.example:8443/',
  'https://shop.example./',
  'https://.shop.example/',
  'https://Shop.example/',
  'https://shöp.example/',
  'https://shop.example\\@evil.example/',
  'https://shop.example?a',
  'https://shop.example/a b',
  'https://shop.example/\u202e',
  ' https://shop.example/',
  'https://shop.example/\n',
  'https:shop.example/',
  '//shop.example/',
  `https://shop.example/${'a'.repeat(480)}`,
])('%s is no address for withdrawals', (url) => {
  expect(WithdrawalUrl.safeParse(url).success).toBe(false);
});
