import { localeOf } from './language-tag.js';

/** Scripts of living languages that are written from right to left (ISO 15924). */
const RIGHT_TO_LEFT = /Adlm|Arab|Hebr|Mand|Nkoo|Rohg|Syrc|Thaa|Yezi/;

/** The direction in which a language is written. @param language BCP 47 */
export function directionOf(language: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.test(localeOf(language)?.maximize().script ?? '') ? 'rtl' : 'ltr';
}
