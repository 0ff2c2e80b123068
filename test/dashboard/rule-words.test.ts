import { describe, expect, test } from 'vitest';
import { en } from '../../dashboard/src/i18n/en/index.js';
import { tr } from '../../dashboard/src/i18n/tr/index.js';
import { ruleOptions } from '../../dashboard/src/pages/banner/rule-options.js';
import { decidedText, ruleProblemText, whereOf } from '../../dashboard/src/pages/banner/rule-words.js';
import { ruleInForce } from '../../dashboard/src/pages/consents/rule-in-force.js';
import type { CategoryRule, ConsentCategory } from '../../schemas/events/site-config.js';
import { PUBLICATION } from '../../schemas/law/publication.js';
import { ruleProblems } from '../../schemas/law/rule-problems.js';
import { category } from '../law/category.js';

const optionsIn = (places: string[], members: Partial<ConsentCategory> = {}) => {
  const one = category(members);
  const configuration = { categories: [one], cookies: [] };
  return ruleOptions({ places }, one, configuration, { words: en.rules, locale: 'en' });
};

describe('the options of a cell', () => {
  test.each([
    [['US-CA'], ['opt_in', 'opt_out'], []],
    [['US-CA', 'US-VA'], ['opt_in', 'opt_out'], []],
    [['US-CA', 'US-FL'], ['opt_in'], []],
    [['GB'], ['opt_in', 'exempt'], ['own_statistics', 'appearance']],
    [['GB', 'DE'], ['opt_in'], []],
    [['JP'], ['opt_in'], []],
  ])('in %j are %j', (places, kinds, exceptions) => {
    expect(optionsIn(places)).toMatchObject({ kinds, exceptions });
  });

  test('name the only recipient as the processor, and refuse exempt for several', () => {
    expect(optionsIn(['GB'], { recipients: ['Counter Ltd.'] })).toMatchObject({ processor: 'Counter Ltd.' });
    const several = optionsIn(['GB'], { recipients: ['Counter Ltd.', 'Ads Ltd.'] });
    expect(several.kinds).toEqual(['opt_in']);
    expect(several.refused).toContainEqual(expect.stringContaining('more than one company gets the data'));
  });

  test('state the reason and the source against each other kind once', () => {
    expect(optionsIn(['DE', 'FR']).refused).toEqual([
      '“Opt-out” is not permitted in Germany, France: the law asks for consent (ePrivacy Directive 2002/58/EC, Art. 5(3)).',
      '“Exempt” is not permitted in Germany, France: the law has no such exception, and that of France is not in the table (ePrivacy Directive 2002/58/EC, Art. 5(3)).',
    ]);
  });
});

test('every problem of a rule has words in both languages, and none that the service does not state', () => {
  const exempt: CategoryRule = { rule: 'exempt', exception: 'own_statistics', ground: {} };
  const places = ['DE', 'GB', 'CH', 'TR', 'IN', 'US-WA', 'JP', 'US-CA'];
  const configuration = {
    categories: [
      category(),
      category({ key: 'marketing', recipients: ['Ads Ltd.'] }),
      category({ key: 'need', required: true }),
    ],
    cookies: [],
    iab: {
      gpp: { cmp_id: 1, sections: ['usca' as const], opt_out: ['marketing'] },
      tcf: {
        cmp_id: 2,
        cmp_version: 1,
        publisher_country: 'GB',
        vendor_list: { version: 1, sha256: '0'.repeat(64) },
        vendors: [1],
        purposes: { marketing: [1] },
        special_features: {},
      },
    },
    rules: [
      { id: 'a', places, categories: { stats: { rule: 'opt_out' as const } } },
      { id: 'a', places, categories: { stats: exempt, marketing: exempt, need: exempt, gone: exempt } },
      { id: 'b', categories: {} },
    ],
  };
  const messages = [...ruleProblems(configuration)].map(({ message }) => message);
  const refused = PUBLICATION.filter(({ isAllowed }) => !isAllowed);
  // Each refusing row, four reasons of a category, and four of the form.
  expect(new Set(messages).size).toBeGreaterThanOrEqual(refused.length + 8);
  for (const words of [en.rules, tr.rules]) {
    const texts = messages.map((message) => ruleProblemText(message, words));
    expect(messages.filter((_, index) => texts[index] === null)).toEqual([]);
    for (const { id } of refused) expect(texts.join('\n')).toContain(words.because[id]);
    expect(ruleProblemText('is missing', words)).toBeNull();
  }
});

test('places, laws and what a rule says have names', () => {
  expect(whereOf({ places: ['GB', 'US-CO', 'US-WA'], frameworks: ['gdpr'] }, en.consents.laws, 'en')).toEqual([
    'GDPR (EU)',
    'United Kingdom',
    'Colorado (US-CO)',
    'United States (US-WA)',
  ]);
  expect(decidedText(undefined, en.rules)).toBe('Consent first');
  expect(decidedText({ rule: 'exempt', exception: 'appearance', ground: {} }, tr.rules)).toBe(
    'Muaf: Sitenin ziyaretçiye göre görünümü veya işleyişi',
  );
});

describe('the rule of a record', () => {
  const site_config_hash = '0'.repeat(64);
  const named = (rule_id: string | null, config: Parameters<typeof ruleInForce>[1]) =>
    ruleInForce({ site_config_hash, rule_id }, config);
  const colorado = { id: 'colorado', places: ['US-CO'], categories: {} };
  const states = { id: 'states', places: ['US-CO', 'US-VA'], categories: {} };
  const published = { rules: [colorado, states, { id: 'europe', frameworks: ['gdpr' as const], categories: {} }] };

  test('has the law of the state, if it is for one', () => {
    const law = 'Colorado Privacy Act, C.R.S. § 6-1-1301 ff.';
    expect(named('colorado', published)).toEqual({ id: 'colorado', rule: colorado, law });
    expect(named('states', published)).toEqual({ id: 'states', rule: states, law: undefined });
    expect(named('europe', published)?.law).toBeUndefined();
  });

  test('is named also where the configuration does not have it', () => {
    expect(named('other', published)).toEqual({ id: 'other', rule: undefined, law: undefined });
    expect(named('other', null)).toEqual({ id: 'other', rule: undefined, law: undefined });
  });

  test('is none in a record without one, and in one of before', () => {
    expect(named(null, published)).toBeNull();
    expect(ruleInForce({ site_config_hash }, published)).toBeNull();
  });
});
