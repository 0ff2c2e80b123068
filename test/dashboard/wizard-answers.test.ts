import { expect, test } from 'vitest';
import type { ConfigurationDraft } from '../../dashboard/src/api/types.js';
import {
  loadTemplate,
  TEMPLATE_LANGUAGES,
} from '../../dashboard/src/pages/documents/policy-templates/load-template.js';
import { originsOf } from '../../dashboard/src/pages/sites/domain-in.js';
import { answersOf, factProblems, policyOf } from '../../dashboard/src/pages/wizard/answers.js';
import { chosenDraft } from '../../dashboard/src/pages/wizard/banner-draft.js';
import { type Typed, typedIn } from '../../dashboard/src/pages/wizard/typed.js';
import { loadTexts } from '../../schemas/banner/load-texts.js';
import { gapsIn } from '../../schemas/text/gaps.js';

const EMPTY: ConfigurationDraft = {
  controller: { legal_name: null, contact: null },
  default_language: null,
  languages: [],
  validity_days: null,
  banner: {},
  withdrawal: {},
  categories: [],
  cookies: [],
  revision: 0,
  changed_at: null,
  problems: [],
  has_changes: false,
  in_force: null,
};

function answers(typed: Typed, draft = EMPTY) {
  const kept = {
    text: (name: string, otherwise: string) => {
      const value = typed[name];
      return typeof value === 'string' ? value : otherwise;
    },
    list: (name: string) => {
      const value = typed[name];
      return typeof value === 'object' ? value : null;
    },
  };
  return answersOf(kept, draft, 'en');
}

const FACTS = {
  legal_name: 'Florist Ltd',
  address: '1 Garden Street\nDublin',
  contact: 'privacy@florist.example',
  what: 'Costs are $& and $1.',
  recipients: 'Nobody.',
  periods: '30 days.',
  rights: 'Write to us.',
};

test('no fact has a default, and each is asked for', () => {
  const begun = answers({});
  expect(
    factProblems(begun, true)
      .map(({ field }) => field)
      .sort(),
  ).toEqual(Object.keys(FACTS).sort());
  expect(factProblems(begun, false).map(({ field }) => field)).toEqual(['legal_name', 'contact']);
  expect([begun.categories, begun.languages]).toEqual([[], ['en']]);
  expect(factProblems(answers(FACTS), true)).toEqual([]);
});

test('spaces are no answer, and a mark of a gap in an answer is named', () => {
  expect(factProblems(answers({ ...FACTS, rights: ' \n', periods: 'See [[periods: later]].' }), true)).toEqual([
    { field: 'periods', message: 'has gaps that are not filled in: [[periods: later]]' },
    { field: 'rights', message: 'must not be empty' },
  ]);
});

test.each(TEMPLATE_LANGUAGES)(
  'the policy of the template in %s has every answer as it was typed, and no gap',
  async (language) => {
    const template = await loadTemplate(language);
    const { content, title } = policyOf(template, answers({ ...FACTS, policy_language: language }));
    expect(title).toBe(template.title);
    expect(gapsIn(content)).toEqual([]);
    const { legal_name, address, ...others } = FACTS;
    for (const text of Object.values(others)) expect(content).toContain(text);
    expect(content).toContain('Florist Ltd, 1 Garden Street, Dublin');
  },
);

test('a gap without an answer stays one, so that nothing with it is published', async () => {
  const template = await loadTemplate('en');
  expect(gapsIn(policyOf(template, answers({ ...FACTS, recipients: ' ' })).content)).toHaveLength(1);
});

test('the draft has what was chosen, and keeps what the site wrote', async () => {
  const [en, tr] = await Promise.all([loadTexts('en'), loadTexts('tr')]);
  if (en === undefined || tr === undefined) throw new Error('both languages have default texts');
  const texts = new Map([
    ['en', en],
    ['tr', tr],
  ]);
  const before = { ...EMPTY, banner: { en: { title: 'Cookies of the florist' } }, validity_days: 90 };
  const choice = answers({ ...FACTS, languages: ['en', 'tr'], categories: ['necessary', 'analytics'], layout: 'box' });
  const draft = chosenDraft(before, choice, texts);
  expect(draft).toMatchObject({
    controller: { legal_name: FACTS.legal_name, contact: FACTS.contact },
    languages: ['en', 'tr'],
    default_language: 'en',
    validity_days: 90,
    appearance: { layout: 'box', scheme: 'auto' },
  });
  expect([draft.banner.en?.title, draft.banner.tr?.title]).toEqual(['Cookies of the florist', tr.defaults.title]);
  // No fact of a category is made up.
  expect(draft.categories.map(({ key, recipients, retention_days }) => [key, recipients, retention_days])).toEqual([
    ['necessary', [], null],
    ['analytics', [], null],
  ]);
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  expect(draft.time_zone).toBe(own);
  expect(chosenDraft({ ...before, time_zone: 'Asia/Tokyo' }, choice, texts).time_zone).toBe(own);
  expect(answers({}, { ...EMPTY, time_zone: 'Asia/Tokyo' }).timeZone).toBe('Asia/Tokyo');
  // Filled in again, for example after a failure, it is the same.
  expect(chosenDraft(draft, choice, texts)).toEqual(draft);
  const without = chosenDraft(draft, { ...choice, categories: ['necessary'] }, texts);
  expect(without.categories.map(({ key }) => key)).toEqual(['necessary']);
});

test('kept values of another form are ignored', () => {
  expect(typedIn('{"name":"Florist","languages":["en",1],"other":{"a":1},"n":2}')).toEqual({
    name: 'Florist',
    languages: ['en'],
  });
  for (const text of [null, '', 'null', '7', '{']) expect(typedIn(text)).toEqual({});
});

test.each([
  ['shop.example', [], []],
  [
    'shop.example',
    ['https://app.example'],
    ['https://shop.example', 'https://www.shop.example', 'https://app.example'],
  ],
  ['www.shop.example', ['https://www.shop.example'], ['https://www.shop.example']],
])('the pages of %s can use the key beside those of %j', (domain, typed, origins) => {
  expect(originsOf(domain, typed)).toEqual(origins);
});
