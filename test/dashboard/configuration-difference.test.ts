import { expect, test } from 'vitest';
import { en } from '../../dashboard/src/i18n/en/index.js';
import {
  type ComparedConfiguration,
  configurationDifference,
} from '../../dashboard/src/pages/banner/configuration-difference.js';
import { DEFAULT_APPEARANCE } from '../../sdk/banner/default-appearance.js';

const analytics: ComparedConfiguration['categories'][number] = {
  key: 'analytics',
  required: false,
  title: { en: 'Statistics', tr: 'İstatistik' },
  purpose: { en: 'Counting', tr: 'Sayım' },
  lawful_basis: 'consent',
  personal_data: ['IP address'],
  recipients: [],
  retention_days: null,
};
const necessary = { ...analytics, key: 'necessary', required: true, title: { en: 'Necessary' }, purpose: {} };
const visits: ComparedConfiguration['cookies'][number] = {
  name: '_visits',
  provider: 'shop.example',
  category: 'analytics',
  party: 'first',
  duration_seconds: 86_400,
  purpose: { en: 'Counting', tr: 'Sayım' },
};
const config: ComparedConfiguration = {
  controller: { legal_name: 'Shop Ltd', contact: 'privacy@shop.example' },
  default_language: 'en',
  languages: ['en', 'tr'],
  validity_days: 365,
  banner: { en: { title: 'Cookies' }, tr: { title: 'Çerezler' } },
  withdrawal: { en: 'At the foot', tr: 'Altta' },
  categories: [necessary, analytics],
  cookies: [visits],
};
const names: Readonly<Record<string, string>> = { en: 'English', tr: 'Turkish' };
const words = {
  banner: en.banner,
  common: en.common,
  rules: en.rules,
  laws: en.consents.laws,
  formats: {
    locale: 'en',
    languageName: (tag: string) => names[tag] ?? tag,
    number: String,
    quantity: (count: number, unit: string) => `${count} ${unit}`,
    list: (items: readonly string[]) => items.join(' and '),
  },
};
/** Each change in one line. */
const changes = (after: ComparedConfiguration, before: ComparedConfiguration | null = config): readonly string[] =>
  configurationDifference(before, after, words).map(
    ({ section, label, before, after }) => `${section} | ${label} | ${before ?? '—'} → ${after ?? '—'}`,
  );

test('two equal configurations have no difference', () => {
  expect(changes(structuredClone(config))).toEqual([]);
});

test.each<readonly [string, Partial<ComparedConfiguration>, readonly string[]]>([
  [
    'a text in one language',
    { banner: { ...config.banner, tr: { title: 'Kurabiyeler' } } },
    ['texts | Heading (Turkish) | Çerezler → Kurabiyeler'],
  ],
  [
    'a text that is new, and one that is gone',
    { banner: { en: { title: 'Cookies', text: 'May we?' }, tr: {} } },
    ['texts | Heading (Turkish) | Çerezler → —', 'texts | Text (English) | — → May we?'],
  ],
  [
    'a look that was the default',
    { appearance: { ...DEFAULT_APPEARANCE, layout: 'box', light: { ...DEFAULT_APPEARANCE.light, accept: '#112233' } } },
    [
      'look | Layout | Bar at the foot of the page → Box in a corner',
      `look | Light colours: “Accept all” | ${DEFAULT_APPEARANCE.light.accept} → #112233`,
    ],
  ],
  [
    'values of a category',
    { categories: [necessary, { ...analytics, required: true, lawful_basis: 'contract', recipients: ['A', 'B'] }] },
    [
      'categories | analytics: Choice of the visitor | Visitors choose → Necessary: always on',
      'categories | analytics: Lawful basis | Consent → Contract',
      'categories | analytics: Recipients | — → A\nB',
    ],
  ],
  [
    'a category that is gone, with one line',
    { categories: [necessary] },
    ['categories | Category: analytics | Statistics → —'],
  ],
  [
    'a category that is new, with one line',
    { categories: [necessary, analytics, { ...analytics, key: 'ads', title: { en: 'Ads' } }] },
    ['categories | Category: ads | — → Ads'],
  ],
  [
    'the order of categories',
    { categories: [analytics, necessary] },
    ['categories | Order of the categories | necessary, analytics → analytics, necessary'],
  ],
  [
    'a cookie of another provider, which is another cookie',
    { cookies: [{ ...visits, provider: 'other.example' }] },
    ['categories | Cookie: _visits | shop.example → —', 'categories | Cookie: _visits | — → other.example'],
  ],
  [
    'the lifetime of a cookie',
    { cookies: [{ ...visits, duration_seconds: null }] },
    ['categories | _visits: Lives for | 1 days → until the browser closes'],
  ],
  [
    'settings, and the switches of services',
    { validity_days: null, service_switches: true, controller: { ...config.controller, contact: 'dpo@shop.example' } },
    [
      'settings | Contact for questions about data protection | privacy@shop.example → dpo@shop.example',
      'settings | Days after which a visitor is asked again | 365 → Never',
      'settings | Visitors can accept each service by itself | No → Yes',
    ],
  ],
  [
    'choices of accounts, with their person space',
    { accounts: { person_space: 'Shops' } },
    [
      'settings | Choices of signed-in people apply on all their devices | No → Yes',
      'settings | Person space | — → Shops',
    ],
  ],
  [
    'rules with their places, and the period of a refusal',
    {
      refusal_days: 200,
      rules: [
        { id: 'states', places: ['US-CA', 'US-CO'], categories: { analytics: { rule: 'opt_out' } } },
        {
          id: 'britain',
          frameworks: ['uk_gdpr'],
          categories: {
            analytics: { rule: 'exempt', exception: 'appearance', ground: { en: 'Why', tr: 'Neden' }, processor: 'A' },
          },
        },
      ],
    },
    [
      'settings | After a refusal | Ask again when a choice would end, but not before 180 days → 200 days',
      'rules | Rule states | — → California (US-CA) and Colorado (US-CO)',
      'rules | states: analytics | — → Opt-out',
      'rules | Rule britain | — → UK GDPR',
      'rules | britain: analytics | — → Exempt: How the site looks or works for the visitor',
      'rules | britain: analytics | — → Only A processes the data, for this site.',
      'rules | britain: analytics, Reason that visitors read (English) | — → Why',
      'rules | britain: analytics, Reason that visitors read (Turkish) | — → Neden',
    ],
  ],
  [
    'a signal, by the name of its member',
    { iab: { gpp: { cmp_id: 1, sections: ['usnat'], opt_out: ['analytics'] } } },
    [
      'iab | Signals for advertisers (IAB): gpp.cmp_id | — → 1',
      'iab | Signals for advertisers (IAB): gpp.sections | — → usnat',
      'iab | Signals for advertisers (IAB): gpp.opt_out | — → analytics',
    ],
  ],
])('names %s', (_, change, lines) => {
  expect(changes({ ...config, ...change })).toEqual(lines);
});

test('texts in a language that the site no longer has are no change of their own', () => {
  expect(changes({ ...config, languages: ['en'] })).toEqual(['settings | Languages | English and Turkish → English']);
  expect(changes({ ...config, banner: { ...config.banner, de: { title: 'Kekse' } } })).toEqual([]);
});

test('the order of rules, and a rule for other places', () => {
  const rules = ['a', 'b'].map((id) => ({ id, places: ['GB'], categories: {} }));
  const before = { ...config, rules };
  expect(changes({ ...before, rules: rules.toReversed() }, before)).toEqual([
    'rules | Order of the rules | a, b → b, a',
  ]);
  expect(changes({ ...before, rules: rules.map((one) => ({ ...one, places: ['CH'] })).slice(0, 1) }, before)).toEqual([
    'rules | Rule a | United Kingdom → Switzerland',
    'rules | Rule b | United Kingdom → —',
  ]);
});

test('a first version is new as a whole', () => {
  expect(changes(config, null)).toContain('categories | Category: analytics | — → Statistics');
});
