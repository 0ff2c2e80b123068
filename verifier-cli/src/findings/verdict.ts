import { CHECKS, type CheckId, type Outcome } from './checks.js';

export type Verdict = 'valid' | 'indeterminate' | 'invalid';

const RANK: Readonly<Record<Verdict, number>> = { valid: 0, indeterminate: 1, invalid: 2 };

export function worst(a: Verdict, b: Verdict): Verdict {
  return RANK[a] >= RANK[b] ? a : b;
}

export function best(a: Verdict, b: Verdict): Verdict {
  return RANK[a] <= RANK[b] ? a : b;
}

/**
 * Returns the verdict that follows from one check's outcome: any failure is fatal, doubt only if
 * the check is required.
 */
export function verdictOf(id: CheckId, outcome: Outcome): Verdict {
  if (outcome === 'fail') return 'invalid';
  return outcome === 'indeterminate' && CHECKS[id].required ? 'indeterminate' : 'valid';
}
