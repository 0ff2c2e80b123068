import type { Outcome } from '../findings/check-table.js';
import type { Verdict } from '../findings/verdict.js';

/** The verdict in one word and in one sentence, for pages. */
export const VERDICT_WORDS: Readonly<Record<Verdict, { readonly word: string; readonly sentence: string }>> = {
  valid: { word: 'Valid', sentence: 'Every required check passed.' },
  indeterminate: {
    word: 'Indeterminate',
    sentence: 'No check failed, but a required check could not be decided. See the checks marked “open” below.',
  },
  invalid: { word: 'Invalid', sentence: 'At least one check failed. See the checks marked “failed” below.' },
};

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
