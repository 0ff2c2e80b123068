import { expect, it } from 'vitest';
import { bannerInLanguage } from '../../../schemas/banner/banner-in-language.js';
import type { IabSettings } from '../../../schemas/iab/iab-settings.js';
import { askedIn } from '../../../sdk/core/asked.js';
import { questionIn } from '../../../src/api/tool/account-choices.js';
import { inForce } from '../../../src/api/tool/in-force.js';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';

const SERVICE = { key: 'counter', name: 'Counter', recipient: 'Counter Ltd.', policy_url: null };
const TCF: NonNullable<IabSettings['tcf']> = {
  ...{ cmp_id: 2, cmp_version: 1, publisher_country: 'DE', vendor_list: { version: 1, sha256: '0'.repeat(64) } },
  ...{ vendors: [7, 3], purposes: { marketing: [1, 3], analytics: [8] }, special_features: { marketing: [2] } },
};
const RULES = [
  {
    id: 'here',
    places: ['TR'],
    categories: {
      analytics: { rule: 'exempt' as const, exception: 'own_statistics' as const, ground: { en: 'Ours.' } },
      marketing: { rule: 'opt_out' as const },
    },
  },
  { id: 'there', places: ['DE'], categories: { marketing: { rule: 'opt_in' as const } } },
];
const categories = DEMO_CONFIG.categories.map((one) => (one.required ? one : { ...one, services: [SERVICE] }));

it.each([
  ['no rule', null, []],
  ['a rule that exempts', 'here', ['analytics']],
  ['a rule that asks', 'there', []],
  ['a rule that the configuration does not have', 'nowhere', []],
])('says what was asked under %s as the SDKs say it', (_, ruleId, exempt) => {
  const rule = RULES.find(({ id }) => id === ruleId) ?? null;
  for (const iab of [undefined, {}, { tcf: TCF }]) {
    const settings = { categories, rules: RULES, ...(iab !== undefined && { iab }) };
    const configuration = { ...DEMO_CONFIG, categories, cookies: DEMO_CONFIG.cookies ?? [] };
    const shown = {
      ...bannerInLanguage(configuration, 'en', 'en', undefined, rule),
      ...(iab !== undefined && { iab }),
    };
    expect(questionIn(settings, ruleId)).toEqual({ asked: askedIn(shown), exempt });
  }
});

it('gives no earlier permission back when a later choice ends', () => {
  const of = (consent_type: string, valid_until: string | null) => ({
    record: { consent_type, valid_until },
    documentSlug: 'cookie-policy',
  });
  const before = of('cookie', '2027-12-01T00:00:00.000Z');
  const later = of('cookie', '2026-12-31T00:00:00.000Z');
  const optOut = of('do_not_sell_opt_out', null);
  const found = [later, optOut, before];
  expect(inForce(found, Date.parse('2026-12-30T00:00:00.000Z'))).toEqual(found);
  expect(inForce(found, Date.parse('2027-01-01T00:00:00.000Z'))).toEqual([optOut]);
});
