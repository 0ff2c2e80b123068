import { matchLanguage } from '../../../schemas/language/match-language.js';
import type { Messages } from './messages.js';

/** Languages of the dashboard, each with its texts, which load when they are needed. */
export const CATALOGUES = {
  en: async (): Promise<Messages> => (await import('./en/index.js')).en,
  tr: async (): Promise<Messages> => (await import('./tr/index.js')).tr,
};

export type Language = keyof typeof CATALOGUES;

export function isLanguage(text: string): text is Language {
  return Object.hasOwn(CATALOGUES, text);
}

/** The first language of the browser that the dashboard has, or English if it has none of them. */
export function browserLanguage(wanted: readonly string[]): Language {
  const match = matchLanguage(Object.keys(CATALOGUES), wanted);
  return match !== undefined && isLanguage(match) ? match : 'en';
}
