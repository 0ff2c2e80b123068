import { beforeAll, describe, expect, test } from 'vitest';
import { labelsIn } from '../../../schemas/banner/known-labels.js';
import {
  BANNER_CONTROLS,
  BANNER_NOTICES,
  type LanguageTexts,
  USUAL_CATEGORIES,
} from '../../../schemas/banner/language-texts.js';
import { DEFAULT_LANGUAGES, isUnread, loadTexts } from '../../../schemas/banner/load-texts.js';
import { directionOf } from '../../../schemas/language/direction.js';

/** Regulation No 1 of 1958, article 1, as amended. */
const OFFICIAL = 'bg cs da de el en es et fi fr ga hr hu it lt lv mt nl pl pt ro sk sl sv'.split(' ');
const OTHERS = 'tr ru ar he fa uk ja zh-Hans zh-Hant'.split(' ');

/** Letters of the scripts that are not Latin, and letters that a language does not have but its neighbours do. */
const SCRIPTS: Readonly<Record<string, RegExp>> = {
  ar: /\p{Script=Arabic}/u,
  bg: /\p{Script=Cyrillic}/u,
  el: /\p{Script=Greek}/u,
  fa: /\p{Script=Arabic}/u,
  he: /\p{Script=Hebrew}/u,
  ja: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
  ru: /\p{Script=Cyrillic}/u,
  uk: /\p{Script=Cyrillic}/u,
  'zh-Hans': /\p{Script=Han}/u,
  'zh-Hant': /\p{Script=Han}/u,
};
const FOREIGN: Readonly<Record<string, RegExp>> = {
  ar: /[یکگپچژ]/,
  bg: /[ыэёіїє]/i,
  fa: /[يكى]/,
  ro: /[şţ]/i,
  ru: /[іїєґ]/i,
  uk: /[ыэъё]/i,
  'zh-Hans': /[設儲選擇關閉語載據時廣統計]/,
  'zh-Hant': /[设储选择关闭语载据时广统计]/,
};

let all: ReadonlyMap<string, LanguageTexts>;
beforeAll(async () => {
  const loaded = await Promise.all(
    DEFAULT_LANGUAGES.map(async (language) => [language, await loadTexts(language)] as const),
  );
  all = new Map(loaded.flatMap(([language, texts]) => (texts === undefined ? [] : [[language, texts]])));
});

/** Every text of a language by its place. */
function textsIn(language: string): ReadonlyMap<string, string> {
  const { labels, defaults } = all.get(language) ?? expect.fail(`no texts in ${language}`);
  const { title, text, withdrawal, categories } = defaults;
  return new Map([
    ...Object.entries(labels).map(([name, label]) => [`labels.${name}`, label] as const),
    ...Object.entries({ title, text, withdrawal }),
    ...Object.entries(categories).flatMap(([key, words]) =>
      Object.entries(words).map(([name, word]) => [`${key}.${name}`, word] as const),
    ),
  ]);
}

test('a banner has default texts in the official languages of the EU and in nine others', () => {
  expect([...DEFAULT_LANGUAGES].sort()).toEqual([...OFFICIAL, ...OTHERS].sort());
});

describe.each(DEFAULT_LANGUAGES)('the texts in %s', (language) => {
  test('are complete, without marks of their making', () => {
    const { labels, defaults } = all.get(language) ?? expect.fail();
    expect(Object.keys(labels)).toEqual([...BANNER_CONTROLS, ...BANNER_NOTICES]);
    expect(Object.keys(defaults.categories)).toEqual(USUAL_CATEGORIES);
    for (const [place, text] of textsIn(language)) {
      expect(text, place).toBe(text.trim().normalize('NFC'));
      expect(text.length, place).toBeGreaterThan(language === 'ja' || language.startsWith('zh') ? 1 : 2);
      // A name is put in the place of the mark.
      const marks = ['labels.allow_all', 'labels.allow', 'labels.receives'].includes(place) ? 1 : 0;
      expect(text.split('{0}').length - 1, place).toBe(marks);
      expect(text.replace('{0}', ''), place).not.toMatch(/[{}[\]<>|_]|\bTODO\b|\?\?/);
      // Straight quotes and apostrophes are those of a typewriter.
      expect(text, place).not.toMatch(/['"]| {2}/);
    }
    expect(labelsIn(language)).toBe(labels);
  });

  test('are in that language', () => {
    const english = textsIn('en');
    for (const [place, text] of textsIn(language)) {
      if (place === 'labels.cookies') continue;
      if (language !== 'en') expect(text, place).not.toBe(english.get(place));
      expect(text, place).toMatch(SCRIPTS[language] ?? /\p{Script=Latin}/u);
      expect(text, place).not.toMatch(FOREIGN[language] ?? /(?!)/);
      // "Cookie" is a loan word.
      if (SCRIPTS[language] !== undefined && language !== 'el')
        expect(text.replace('{0}', '').replace(/Cookie/gi, ''), place).not.toMatch(/\p{Script=Latin}/u);
    }
  });

  test('have sentences that no other language has', () => {
    const others = DEFAULT_LANGUAGES.filter((one) => one !== language).flatMap((one) => [...textsIn(one).values()]);
    for (const [place, text] of textsIn(language))
      if (/purpose|text|withdrawal|saved|receives|conflict/.test(place)) expect(others, place).not.toContain(text);
  });

  test('are short where they stand on buttons and beside switches', () => {
    const { labels, defaults } = all.get(language) ?? expect.fail();
    for (const name of ['accept', 'reject', 'settings', 'save', 'close', 'load_once'] as const)
      expect(labels[name].length, name).toBeLessThanOrEqual(30);
    // The buttons of one question have about one width.
    expect(Math.abs(labels.accept.length - labels.reject.length)).toBeLessThanOrEqual(5);
    for (const { title, purpose } of Object.values(defaults.categories)) {
      expect(title.length, title).toBeLessThanOrEqual(22);
      expect(purpose.length, purpose).toBeLessThanOrEqual(120);
    }
    expect(defaults.text.length).toBeLessThanOrEqual(300);
    expect(defaults.withdrawal.length).toBeLessThanOrEqual(130);
  });

  test('state no fact of a site: no number, date, address or law', () => {
    for (const [place, text] of textsIn(language)) {
      const words = place === 'labels.load_once' ? text.replace('1回', '') : text;
      expect(words.replace('{0}', ''), place).not.toMatch(/\p{Nd}|@|https?:|\b(?:GDPR|DSGVO|RGPD|KVKK|CCPA)\b/u);
    }
  });
});

test.each([
  ['de-AT', 'de'],
  ['zh', 'zh-Hans'],
  ['zh-TW', 'zh-Hant'],
  ['iw', 'he'],
])('%s has the texts of %s', async (language, expected) => {
  expect(await loadTexts(language)).toBe(await loadTexts(expected));
});

test.each(['cy', 'x-default', ''])('“%s” has no texts', async (language) => {
  expect(await loadTexts(language)).toBeUndefined();
  expect(isUnread(language)).toBe(false);
});

test('only English counts as read by a native speaker', () => {
  expect(DEFAULT_LANGUAGES.filter((language) => !isUnread(language))).toEqual(['en']);
});

test('Arabic, Hebrew and Persian are written from right to left', () => {
  expect(DEFAULT_LANGUAGES.filter((language) => directionOf(language) === 'rtl').sort()).toEqual(['ar', 'fa', 'he']);
});
