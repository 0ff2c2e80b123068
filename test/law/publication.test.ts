import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CategoryRule, type ConsentCategory, type SiteRule } from '../../schemas/events/site-config.js';
import { FRAMEWORK_PLACES } from '../../schemas/law/framework-places.js';
import { ADVERTISING_KEYS, type RuledConfiguration } from '../../schemas/law/permitted.js';
import { groupOf, PUBLICATION } from '../../schemas/law/publication.js';
import { ruleProblems } from '../../schemas/law/rule-problems.js';
import { US_STATES } from '../../schemas/law/us-states.js';
import { GOOGLE_CONSENT_TYPES } from '../../sdk/browser/src/google-consent-mode.js';
import { category } from './category.js';
import { publicationsOf, readRulesTable } from './rules-table.js';

const table = readRulesTable('rules-table-a.json');

const ALL_STATES = [...US_STATES.map(({ code }) => `US-${code}`), 'US-WA', 'US-NY', 'US-PR', 'US'];
/** Places of each group of the table, as rules name them. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  eea: FRAMEWORK_PLACES.find(({ framework }) => framework === 'gdpr')?.places ?? [],
  gb: ['GB', 'GB-SCT'],
  ch: ['CH'],
  tr: ['TR', 'TR-34'],
  in: ['IN'],
  us_signal: table.places.us_signal?.members.split(' ') ?? [],
  us_law: table.places.us_law?.members.split(' ') ?? [],
  us_other: ['US-FL', 'US-WA', 'US-NY', 'US-PR', 'US'],
  other: ['BR', 'CA', 'JP', 'JE', 'GG', 'IM', 'CN'],
};

const OPT_OUT = { rule: 'opt_out' } as const;
const exempt = (exception: 'own_statistics' | 'appearance', processor?: string) =>
  ({ rule: 'exempt', exception, ground: { en: 'Why' }, ...(processor !== undefined && { processor }) }) as const;

/** A configuration with one rule on one category. */
function configuration(
  places: readonly string[],
  decided: CategoryRule,
  { members = {}, ...more }: Partial<RuledConfiguration> & { readonly members?: Partial<ConsentCategory> } = {},
): RuledConfiguration {
  const one = category(members);
  return {
    categories: [one],
    cookies: [],
    rules: [{ id: 'r', places: [...places], categories: { [one.key]: decided } }],
    ...more,
  };
}
const problems = (some: RuledConfiguration) =>
  [...ruleProblems(some)].map(({ field, message }) => `${field}: ${message}`);

const gpp = { gpp: { cmp_id: 1, sections: ['usca' as const], opt_out: ['stats'] } };
/** A category of each kind of the table, and what its rule may say of it. */
const KINDS: Readonly<
  Record<string, { readonly exception: 'own_statistics' | 'appearance' } & Parameters<typeof configuration>[2]>
> = {
  required: { exception: 'own_statistics', members: { required: true } },
  own_statistics: { exception: 'own_statistics' },
  shared_statistics: { exception: 'own_statistics', members: { recipients: ['Somebody Ltd.'] } },
  appearance: { exception: 'appearance' },
  advertising: { exception: 'own_statistics', iab: gpp },
};

describe('what may be published', () => {
  const cells = Object.keys(PLACES).flatMap((place) =>
    (['opt_in', 'opt_out', 'exempt'] as const).flatMap((rule) =>
      Object.keys(KINDS).map((kind) => ({ place, rule, kind })),
    ),
  );

  test.each(cells)('is what the table of rules allows: $rule in $place for $kind', ({ place, rule, kind }) => {
    const { exception = 'appearance', ...more } = KINDS[kind] ?? {};
    const decided = rule === 'exempt' ? exempt(exception) : { rule };
    const [row, ...others] = publicationsOf(table, { place, rule, kind });
    expect(others).toEqual([]);
    for (const code of PLACES[place] ?? [])
      expect([code, problems(configuration([code], decided, more)).length === 0]).toEqual([code, row?.allowed]);
  });

  test('has no exception for another kind of category', () => {
    const { rule, ground } = exempt('appearance');
    expect(CategoryRule.safeParse({ rule, exception: 'other', ground }).success).toBe(false);
    expect(table.kinds).toEqual(
      expect.objectContaining(Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, expect.anything()]))),
    );
    expect(Object.keys(table.kinds).filter((kind) => !Object.hasOwn(KINDS, kind))).toEqual(['other']);
  });

  test('is decided by one row for each place, rule and exception, and each row for some', () => {
    for (const row of PUBLICATION) expect(row.groups.length).toBeGreaterThan(0);
    const rows = (place: string, rule: string, exception: string) =>
      PUBLICATION.filter(
        (row) =>
          row.rule === rule &&
          row.groups.some((one) => one === place) &&
          (!('exceptions' in row) || row.exceptions.some((one) => one === exception)),
      );
    for (const place of Object.keys(PLACES)) {
      expect(rows(place, 'opt_out', '')).toHaveLength(1);
      expect(rows(place, 'exempt', 'own_statistics')).toHaveLength(1);
      expect(rows(place, 'exempt', 'appearance')).toHaveLength(1);
    }
  });

  test.each(Object.entries(PLACES))('knows the places of %s', (group, places) => {
    expect(places.filter((place) => groupOf(place) !== group)).toEqual([]);
    const states = ALL_STATES.filter((place) => groupOf(place) === group);
    expect(states.sort()).toEqual(group.startsWith('us_') ? [...places].sort() : []);
  });

  test('names source and place where it refuses, and the rows of docs/law.md', () => {
    expect(problems(configuration(['US-CA', 'DE', 'FR', 'US-FL'], OPT_OUT))).toEqual([
      'rules.0.categories.stats: opt_out is not allowed in DE, FR: the law asks for consent (ePrivacy Directive 2002/58/EC, Art. 5(3))',
      expect.stringMatching(/opt_out is not allowed in US-FL: .*Florida.*\(docs\/law\.md, States\)$/),
    ]);
    const law = readFileSync('docs/law.md', 'utf8');
    for (const { source } of PUBLICATION.filter(({ source }) => source.startsWith('docs/law.md, ')))
      expect(law).toContain(`## ${source.slice('docs/law.md, '.length)}\n`);
  });

  test('is asked of each place that a law stands for', () => {
    const rule = (frameworks: Required<SiteRule>['frameworks'], decided: CategoryRule): RuledConfiguration => ({
      ...configuration([], decided),
      rules: [{ id: 'r', frameworks, categories: { stats: decided } }],
    });
    expect(problems(rule(['ccpa'], OPT_OUT))).toEqual([]);
    expect(problems(rule(['uk_gdpr'], exempt('appearance')))).toEqual([]);
    expect(problems(rule(['ccpa', 'gdpr'], OPT_OUT))).toEqual([
      'rules.0.categories.stats: opt_out is not allowed in AT, BE, BG, CY, CZ and others: the law asks for consent (ePrivacy Directive 2002/58/EC, Art. 5(3))',
    ]);
  });
});

describe('a rule is refused', () => {
  test.each<[string, readonly SiteRule[], string]>([
    [
      'for no place',
      [{ id: 'r', categories: {} }],
      'rules.0.places: must name a place or a law; without a rule, everything optional waits for consent',
    ],
    [
      'for empty lists',
      [{ id: 'r', places: [], frameworks: [], categories: {} }],
      'rules.0.places: must name a place or a law; without a rule, everything optional waits for consent',
    ],
    [
      'if its id is not its own',
      [
        { id: 'r', places: ['GB'], categories: {} },
        { id: 'r', places: ['CH'], categories: {} },
      ],
      'rules.1.id: there is another rule r',
    ],
    [
      'for a category that is not there',
      [{ id: 'r', places: ['GB'], categories: { other: { rule: 'opt_in' } } }],
      'rules.0.categories.other: there is no category other',
    ],
  ])('%s', (_, rules, problem) => {
    expect(problems({ ...configuration([], OPT_OUT), rules })).toEqual([problem]);
  });
});

describe('a category called stats that is advertising is not exempt', () => {
  const tcf = {
    cmp_id: 2,
    cmp_version: 1,
    publisher_country: 'GB',
    vendor_list: { version: 1, sha256: '0'.repeat(64) },
    vendors: [1],
    purposes: {},
    special_features: {},
  };
  const service = { key: 'pixel', name: 'Pixel', recipient: 'Ads Ltd.', policy_url: null };
  const CONDITIONS = ' (PECR, Schedule A1, paragraphs 5 and 6)';
  const cases: readonly [string, Parameters<typeof configuration>[2], string][] = [
    [
      'by a purpose of TCF',
      { iab: { tcf: { ...tcf, purposes: { stats: [7] } } } },
      'it permits purposes or special features of TCF, and advertising needs consent',
    ],
    [
      'by a special feature of TCF',
      { iab: { tcf: { ...tcf, special_features: { stats: [1] } } } },
      'it permits purposes or special features of TCF, and advertising needs consent',
    ],
    [
      'by the opt-out of GPP',
      { iab: gpp },
      'GPP counts it as sale, sharing or targeted advertising, and advertising needs consent',
    ],
    [
      'by a recipient',
      { members: { recipients: ['Counter Ltd.', 'Ads Ltd.'] } },
      'somebody besides the processor that the rule names gets the data: Ads Ltd.',
    ],
    [
      'by the recipient of a service',
      { members: { services: [service] } },
      'somebody besides the processor that the rule names gets the data: Ads Ltd.',
    ],
    [
      'by a cookie of another host',
      { cookies: [{ category: 'stats', party: 'third', provider: 'Ads Ltd.' }] },
      'somebody besides the processor that the rule names gets the data: Ads Ltd.',
    ],
  ];

  test.each(cases)('%s', (_, more, message) => {
    expect(problems(configuration(['GB'], exempt('own_statistics', 'Counter Ltd.'), more))).toEqual([
      `rules.0.categories.stats: exempt is not allowed for stats: ${message}${CONDITIONS}`,
    ]);
  });

  test('and one that has Google’s types of advertising by its key', () => {
    expect(problems(configuration(['GB'], exempt('appearance'), { members: { key: 'marketing' } }))).toEqual([
      `rules.0.categories.marketing: exempt is not allowed for marketing: its default types of Google Consent Mode are ad_…, and advertising needs consent${CONDITIONS}`,
    ]);
    const advertising = Object.entries(GOOGLE_CONSENT_TYPES).filter(([, types]) =>
      types.some((type) => type.startsWith('ad_')),
    );
    expect(ADVERTISING_KEYS).toEqual(advertising.map(([key]) => key));
  });

  test('and one with a service of such a key', () => {
    const services = [{ ...service, key: 'marketing', recipient: 'Counter Ltd.' }];
    expect(
      problems(configuration(['GB'], exempt('own_statistics', 'Counter Ltd.'), { members: { services } })),
    ).toEqual([expect.stringContaining('types of Google Consent Mode are ad_…')]);
  });

  test('while statistics for the site alone are, with the processor that the rule names', () => {
    const own = {
      members: { recipients: ['Counter Ltd.'], services: [{ ...service, recipient: 'Counter Ltd.' }] },
      cookies: [
        { category: 'stats', party: 'first' as const, provider: 'Matomo' },
        { category: 'stats', party: 'third' as const, provider: 'Counter Ltd.' },
        { category: 'other', party: 'third' as const, provider: 'Ads Ltd.' },
      ],
      iab: { tcf: { ...tcf, purposes: { ads: [1] } }, gpp: { ...gpp.gpp, opt_out: ['ads'] } },
    };
    expect(problems(configuration(['GB'], exempt('own_statistics', 'Counter Ltd.'), own))).toEqual([]);
    expect(problems(configuration(['GB'], exempt('own_statistics'), own))).toHaveLength(1);
  });
});
