import { beforeAll, expect, test } from 'vitest';
import type { ConfigurationDraft } from '../../dashboard/src/api/types.js';
import {
  categoriesToAdd,
  defaultsIn,
  type TextsByLanguage,
  unconfirmedIn,
  withDefaults,
} from '../../dashboard/src/pages/banner/default-texts.js';
import { SiteConfigDraft } from '../../schemas/api/panel/configuration.js';
import { USUAL_CATEGORIES } from '../../schemas/banner/language-texts.js';
import { DEFAULT_LANGUAGES, isUnread, loadTexts } from '../../schemas/banner/load-texts.js';
import { problemsOf } from '../../src/tenancy/configuration/problems.js';

let texts: TextsByLanguage;
const known = (language: string) => texts.get(language) ?? expect.fail(`no texts in ${language}`);
beforeAll(async () => {
  const loaded = await Promise.all(['en', 'el', 'ga'].map(async (one) => [one, await loadTexts(one)] as const));
  texts = new Map(loaded.flatMap(([language, found]) => (found === undefined ? [] : [[language, found]])));
});

const DRAFT: ConfigurationDraft = {
  controller: { legal_name: 'Florist Ltd', contact: 'privacy@florist.example' },
  default_language: 'en',
  languages: ['en', 'el', 'ga'],
  validity_days: null,
  banner: {},
  withdrawal: {},
  categories: [],
  cookies: [],
  revision: 3,
  changed_at: null,
  problems: [],
  has_changes: true,
  in_force: null,
};

/** A category with its key alone, as a site may have it. */
const category = (key: string): ConfigurationDraft['categories'][number] => ({
  key,
  required: false,
  title: {},
  purpose: {},
  lawful_basis: 'consent',
  personal_data: [],
  recipients: [],
  retention_days: null,
});

const problemsIn = ({ changed_at, problems, has_changes, in_force, revision, ...draft }: ConfigurationDraft) =>
  problemsOf(SiteConfigDraft.parse(draft), null, { domain: 'shop.example', proof: null });

test('an empty draft with the default texts can be published', () => {
  expect(problemsIn({ ...DRAFT, ...withDefaults(DRAFT, texts, []) })).toEqual([]);
  const filled = { ...DRAFT, ...withDefaults(DRAFT, texts, USUAL_CATEGORIES) };
  expect(problemsIn(filled)).toEqual([]);
  expect(filled.categories.map(({ key, required, lawful_basis }) => [key, required, lawful_basis])).toEqual([
    ['necessary', true, 'legitimate_interest'],
    ['preferences', false, 'consent'],
    ['analytics', false, 'consent'],
    ['marketing', false, 'consent'],
  ]);
  expect(filled.banner.el?.title).toBe(known('el').defaults.title);
  expect(categoriesToAdd(filled)).toEqual([]);
  expect(categoriesToAdd({ categories: [category('analytics')] })).toEqual(['necessary', 'preferences', 'marketing']);
});

test('texts and categories of the site stay, and a control that it words in one language gets its label in others', () => {
  const own = {
    ...DRAFT,
    languages: ['en', 'el', 'cy'],
    banner: { en: { title: 'Cookies of the florist', text: ' ', accept: 'Agree to all', 'own.text': 'Tulips' } },
    withdrawal: { cy: 'Agorwch y gosodiadau.' },
    categories: [
      { ...category('maps'), title: { en: 'Maps' } },
      { ...category('analytics'), purpose: { en: 'Counting' } },
    ],
  };
  const filled = withDefaults(own, new Map([...texts].filter(([language]) => language !== 'ga')), ['necessary']);
  const { en, el } = { en: known('en'), el: known('el') };
  expect(filled.banner).toEqual({
    en: { title: 'Cookies of the florist', text: en.defaults.text, accept: 'Agree to all', 'own.text': 'Tulips' },
    el: { title: el.defaults.title, text: el.defaults.text, accept: el.labels.accept },
  });
  expect(filled.withdrawal).toMatchObject({ cy: 'Agorwch y gosodiadau.', el: el.defaults.withdrawal });
  expect(filled.categories.map(({ key }) => key)).toEqual(['necessary', 'maps', 'analytics']);
  expect(filled.categories[1]).toEqual(own.categories[0]);
  expect(filled.categories[2]?.purpose).toEqual({ en: 'Counting', el: el.defaults.categories.analytics.purpose });
  expect(defaultsIn(filled, 'el', el)).toEqual([
    'title',
    'text',
    'accept',
    'withdrawal',
    'necessary.title',
    'necessary.purpose',
    'analytics.title',
    'analytics.purpose',
  ]);
  expect(defaultsIn({ ...own, ...filled }, 'en', en)).not.toContain('title');
});

test('a language is confirmed by the publication of its texts, and again when more defaults are adopted', () => {
  const unconfirmed = (draft: ConfigurationDraft, before: ConfigurationDraft | null) =>
    unconfirmedIn(draft, before, texts, isUnread);
  const filled = { ...DRAFT, ...withDefaults(DRAFT, texts, []) };
  expect(unconfirmed(DRAFT, null)).toEqual(['el', 'ga']);
  expect(unconfirmed(filled, { ...DRAFT, languages: ['en', 'el'] })).toEqual(['el', 'ga']);
  expect(unconfirmed(filled, filled)).toEqual([]);
  const more = { ...filled, ...withDefaults(filled, texts, ['marketing']) };
  expect(unconfirmed(more, filled)).toEqual(['el', 'ga']);
  expect(unconfirmed(more, more)).toEqual([]);
  const rewritten = { ...filled, banner: { ...filled.banner, el: { title: 'Τα cookies μας', text: 'Κείμενο' } } };
  expect(unconfirmed(rewritten, filled)).toEqual([]);
});

test('the dashboard knows the names of the languages that have defaults', () => {
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  for (const language of DEFAULT_LANGUAGES) expect(names.of(language), language).toBeDefined();
});
