import { lookup as enLookup } from './en/lookup.js';
import { page as enPage } from './en/page.js';
import { words as enWords } from './en/words.js';
import type { Language } from './language.js';
import type { Texts } from './texts.js';
import { lookup as trLookup } from './tr/lookup.js';
import { page as trPage } from './tr/page.js';
import { words as trWords } from './tr/words.js';

/** The texts of the page before the verifier is there. */
export type AnswerTexts = Pick<Texts, 'language' | 'lookup' | 'page' | 'words'>;

const TEXTS: Readonly<Record<Language, AnswerTexts>> = {
  en: { language: 'en', lookup: enLookup, page: enPage, words: enWords },
  tr: { language: 'tr', lookup: trLookup, page: trPage, words: trWords },
};

/** The texts of the page in one language, without those of reports. */
export function answerTextsIn(language: Language): AnswerTexts {
  return TEXTS[language];
}
