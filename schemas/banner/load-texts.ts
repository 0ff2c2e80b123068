import { matchLanguage } from '../language/match-language.js';
import type { KnownLanguage } from './known-labels.js';
import type { LanguageTexts } from './language-texts.js';

const LOADERS: Readonly<Record<KnownLanguage, () => Promise<LanguageTexts>>> = {
  ar: () => import('./languages/ar.js'),
  bg: () => import('./languages/bg.js'),
  cs: () => import('./languages/cs.js'),
  da: () => import('./languages/da.js'),
  de: () => import('./languages/de.js'),
  el: () => import('./languages/el.js'),
  en: () => import('./languages/en.js'),
  es: () => import('./languages/es.js'),
  et: () => import('./languages/et.js'),
  fa: () => import('./languages/fa.js'),
  fi: () => import('./languages/fi.js'),
  fr: () => import('./languages/fr.js'),
  ga: () => import('./languages/ga.js'),
  he: () => import('./languages/he.js'),
  hr: () => import('./languages/hr.js'),
  hu: () => import('./languages/hu.js'),
  it: () => import('./languages/it.js'),
  ja: () => import('./languages/ja.js'),
  lt: () => import('./languages/lt.js'),
  lv: () => import('./languages/lv.js'),
  mt: () => import('./languages/mt.js'),
  nl: () => import('./languages/nl.js'),
  pl: () => import('./languages/pl.js'),
  pt: () => import('./languages/pt.js'),
  ro: () => import('./languages/ro.js'),
  ru: () => import('./languages/ru.js'),
  sk: () => import('./languages/sk.js'),
  sl: () => import('./languages/sl.js'),
  sv: () => import('./languages/sv.js'),
  tr: () => import('./languages/tr.js'),
  uk: () => import('./languages/uk.js'),
  'zh-Hans': () => import('./languages/zh-hans.js'),
  'zh-Hant': () => import('./languages/zh-hant.js'),
};

const BY_LANGUAGE: ReadonlyMap<string, () => Promise<LanguageTexts>> = new Map(Object.entries(LOADERS));

/** The languages in which every text of a banner has a default (BCP 47). */
export const DEFAULT_LANGUAGES: readonly string[] = [...BY_LANGUAGE.keys()];

/**
 * Languages whose default texts a native speaker has read and confirmed. English is the language they were written in.
 */
const READ_BY_SPEAKERS: readonly string[] = ['en'];

/** Whether a language has defaults that no native speaker has read. @param language BCP 47 */
export function isUnread(language: string): boolean {
  const known = matchLanguage(DEFAULT_LANGUAGES, [language]);
  return known !== undefined && !READ_BY_SPEAKERS.includes(known);
}

/**
 * Loads the texts of one language.
 * @param language BCP 47
 * @returns undefined if the language has none
 */
export async function loadTexts(language: string): Promise<LanguageTexts | undefined> {
  return BY_LANGUAGE.get(matchLanguage(DEFAULT_LANGUAGES, [language]) ?? '')?.();
}
