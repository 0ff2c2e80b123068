import type { Outcome } from '../findings/check-table.js';
import type { Verdict } from '../findings/verdict.js';

/** A verdict for people. */
export interface VerdictWording {
  readonly word: string;
  /** One character that means the same as the colour. */
  readonly mark: string;
  readonly sentence: string;
  /** Class of the banner. */
  readonly style: string;
}

const WORDINGS: Readonly<Record<Verdict, VerdictWording>> = {
  valid: { word: 'Valid', mark: '✓', sentence: 'Every required check passed.', style: 'valid' },
  indeterminate: {
    word: 'Indeterminate',
    mark: '?',
    sentence: 'No check failed, but a required check could not be decided. See the checks marked “?” below.',
    style: 'indeterminate',
  },
  invalid: {
    word: 'Invalid',
    mark: '✗',
    sentence: 'At least one check failed. See the checks marked “✗” below.',
    style: 'invalid',
  },
};

const VALID_BUT_DEVELOPMENT: VerdictWording = {
  word: 'Valid, but not evidence',
  mark: '!',
  sentence: 'A development time stamp authority stamped this ledger. Anyone can run one and set its clock.',
  style: 'indeterminate',
};

/**
 * The words for a verdict. The stamps of a development authority never make a plain “valid”.
 * @param isDevelopment whether such an authority stamped the ledger
 */
export function verdictWording(verdict: Verdict, isDevelopment: boolean): VerdictWording {
  return verdict === 'valid' && isDevelopment ? VALID_BUT_DEVELOPMENT : WORDINGS[verdict];
}

/**
 * An outcome as a mark with a word: colour alone tells nothing to some readers, and to no printer.
 */
export const OUTCOME_WORDS: Readonly<
  Record<Outcome, { readonly mark: string; readonly word: string; readonly style: string }>
> = {
  pass: { mark: '✓', word: 'passed', style: 'pass' },
  fail: { mark: '✗', word: 'failed', style: 'fail' },
  indeterminate: { mark: '?', word: 'open', style: 'open' },
  'not-applicable': { mark: '–', word: 'not applicable', style: 'none' },
};

/**
 * The verdict on one record of a list, as a mark.
 * @param isDevelopment whether a development authority stamped the ledger
 */
export function verdictMark(verdict: Verdict, isDevelopment: boolean): string {
  return verdictWording(verdict, isDevelopment).mark;
}
