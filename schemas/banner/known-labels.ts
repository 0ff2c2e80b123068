import { matchLanguage } from '../language/match-language.js';
import type { LabelTexts } from './language-texts.js';
import { labels as ar } from './languages/ar.js';
import { labels as bg } from './languages/bg.js';
import { labels as cs } from './languages/cs.js';
import { labels as da } from './languages/da.js';
import { labels as de } from './languages/de.js';
import { labels as el } from './languages/el.js';
import { labels as en } from './languages/en.js';
import { labels as es } from './languages/es.js';
import { labels as et } from './languages/et.js';
import { labels as fa } from './languages/fa.js';
import { labels as fi } from './languages/fi.js';
import { labels as fr } from './languages/fr.js';
import { labels as ga } from './languages/ga.js';
import { labels as he } from './languages/he.js';
import { labels as hr } from './languages/hr.js';
import { labels as hu } from './languages/hu.js';
import { labels as it } from './languages/it.js';
import { labels as ja } from './languages/ja.js';
import { labels as lt } from './languages/lt.js';
import { labels as lv } from './languages/lv.js';
import { labels as mt } from './languages/mt.js';
import { labels as nl } from './languages/nl.js';
import { labels as pl } from './languages/pl.js';
import { labels as pt } from './languages/pt.js';
import { labels as ro } from './languages/ro.js';
import { labels as ru } from './languages/ru.js';
import { labels as sk } from './languages/sk.js';
import { labels as sl } from './languages/sl.js';
import { labels as sv } from './languages/sv.js';
import { labels as tr } from './languages/tr.js';
import { labels as uk } from './languages/uk.js';
import { labels as zhHans } from './languages/zh-hans.js';
import { labels as zhHant } from './languages/zh-hant.js';

const LABELS = {
  ar,
  bg,
  cs,
  da,
  de,
  el,
  en,
  es,
  et,
  fa,
  fi,
  fr,
  ga,
  he,
  hr,
  hu,
  it,
  ja,
  lt,
  lv,
  mt,
  nl,
  pl,
  pt,
  ro,
  ru,
  sk,
  sl,
  sv,
  tr,
  uk,
  'zh-Hans': zhHans,
  'zh-Hant': zhHant,
} satisfies Readonly<Record<string, LabelTexts>>;

/** A language with all its texts. */
export type KnownLanguage = keyof typeof LABELS;

const BY_LANGUAGE: ReadonlyMap<string, LabelTexts> = new Map(Object.entries(LABELS));

/**
 * The labels in a language, for programs that need every language at once. Pages use `loadTexts`.
 * @param language BCP 47
 * @returns undefined if the language has none
 */
export function labelsIn(language: string): LabelTexts | undefined {
  const all = [...BY_LANGUAGE.keys()];
  // Each request for a configuration comes here, and to compare a tag like en-GB with all of them takes half a millisecond.
  const [own = ''] = language.toLowerCase().split('-');
  const near = all.filter((tag) => tag === own || tag.startsWith(`${own}-`));
  return BY_LANGUAGE.get(matchLanguage(near, [language]) ?? matchLanguage(all, [language]) ?? '');
}
