import { matchLanguage } from '../../../schemas/language/match-language.js';

/** Languages of reports and of the page. */
export const LANGUAGES = ['en', 'tr'] as const;

export type Language = (typeof LANGUAGES)[number];

/** The language of a tag such as `tr-TR`, or null if reports do not have it. */
export function languageOf(tag: string): Language | null {
  const match = matchLanguage(LANGUAGES, [tag]);
  return LANGUAGES.find((language) => language === match) ?? null;
}
