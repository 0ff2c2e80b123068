import type { Outcome } from '../findings/checks.js';
import type { Stated } from '../findings/finding.js';
import type { Verdict } from '../findings/verdict.js';
import type { Texts } from '../i18n/texts.js';
import { printable } from './printable.js';

/** A verdict for readers. */
export interface VerdictWording {
  readonly word: string;
  /** A character with the same meaning as the colour. */
  readonly mark: string;
  readonly sentence: string;
  /** Class of the banner. */
  readonly style: string;
}

/** Whose key and root certificates a check used: the reader's own, or those that the operator's service publishes. */
export type TrustSource = 'reader' | 'operator';

const SIGNS: Readonly<
  Record<Verdict | 'development' | 'published', { readonly mark: string; readonly style: string }>
> = {
  valid: { mark: '✓', style: 'valid' },
  indeterminate: { mark: '?', style: 'indeterminate' },
  invalid: { mark: '✗', style: 'invalid' },
  development: { mark: '!', style: 'indeterminate' },
  published: { mark: 'i', style: 'stated' },
};

/**
 * The words for a verdict. Stamps of a development authority never lead to a plain “valid”. Neither do keys that the
 * operator supplied, because an operator who forges evidence publishes keys that match it.
 * @param isDevelopment whether a development authority stamped the ledger
 */
export function verdictWording(
  verdict: Verdict,
  isDevelopment: boolean,
  { words }: Texts,
  trust: TrustSource = 'reader',
): VerdictWording {
  const sound = isDevelopment ? 'development' : trust === 'operator' ? 'published' : 'valid';
  const kind = verdict === 'valid' ? sound : verdict;
  return { ...SIGNS[kind], ...words.verdicts[kind] };
}

/** The word of a verdict as the first word of a report on a terminal. */
export function loudVerdict({ word }: VerdictWording, { language }: Texts): string {
  return word.toLocaleUpperCase(language);
}

/** The word of a verdict within a sentence. */
export function quietVerdict({ word }: VerdictWording, { language }: Texts): string {
  return word.toLocaleLowerCase(language);
}

/**
 * Marks of outcomes. Each appears with its word, because some readers cannot see the colour, and paper may not show it.
 */
export const OUTCOME_MARKS: Readonly<Record<Outcome, { readonly mark: string; readonly style: string }>> = {
  pass: { mark: '✓', style: 'pass' },
  fail: { mark: '✗', style: 'fail' },
  indeterminate: { mark: '?', style: 'open' },
  'not-applicable': { mark: '–', style: 'none' },
};

/**
 * The verdict on one record of a list, as a mark.
 * @param isDevelopment whether a development authority stamped the ledger
 */
export function verdictMark(verdict: Verdict, isDevelopment: boolean): string {
  return SIGNS[verdict === 'valid' && isDevelopment ? 'development' : verdict].mark;
}

/** Returns a decision in the language of the reader; an unknown one is returned unchanged. */
export function decisionWord(decision: string | null, { words }: Pick<Texts, 'words'>): string {
  if (decision === null) return words.unknown;
  return wordOf(words.decisions, decision);
}

/** Returns the word for a name from the package; an unknown name is returned unchanged. */
export function wordOf(words: Readonly<Record<string, string>>, name: string): string {
  const word = Object.hasOwn(words, name) ? words[name] : undefined;
  return word ?? printable(name);
}

/** A finding of a check. */
export function findingText(found: Stated, texts: Texts): string {
  return texts.finding(found);
}
