import type { Resolution } from '../documents/documents.js';
import { evaluatePlace } from '../documents/evaluate-place.js';
import type { Erasures } from '../erasure/erasures.js';
import { EntryFindings, type EntryNote } from '../findings/entry-findings.js';
import type { Findings } from '../findings/findings.js';
import { type Verdict, worst } from '../findings/verdict.js';
import type { ConsentTable } from './consent-table.js';

const UNREAD: Resolution = { outcome: 'indeterminate', message: 'the record could not be read', term: null };

/** What the whole file has shown. */
interface Whole {
  /** The worst verdict on a policy of the ledger. */
  readonly policyVerdict: Verdict;
  /** By reference: see `Documents`. */
  readonly resolutions: readonly Resolution[];
  /** Whether every notice of the site is enclosed and understood. */
  readonly isHistoryWhole: boolean;
}

/**
 * Checks of a consent that need the whole file: its document, its configuration and its erasure.
 */
export class FinalChecks {
  constructor(
    readonly findings: Findings,
    readonly consents: ConsentTable,
    readonly erasures: Erasures,
    readonly whole: Whole,
  ) {}

  /**
   * Evaluates a row of the table, whose verdict becomes at least as bad.
   * @returns the verdict of these checks alone
   */
  evaluate(index: number, notes: EntryNote[] | null): { readonly verdict: Verdict; readonly isErased: boolean } {
    const { resolutions, isHistoryWhole, policyVerdict } = this.whole;
    const row = this.consents.row(index);
    const findings = new EntryFindings(this.findings, () => this.consents.locationOf(index), notes);
    findings.adopt(policyVerdict);
    for (const [check, reference] of [
      ['document.version', row.version],
      ['document.configuration', row.configuration],
    ] as const) {
      const { outcome, message, term } = resolutions[reference] ?? UNREAD;
      const misplaced = term === null || outcome === 'fail' ? null : evaluatePlace(term, row, isHistoryWhole);
      if (misplaced === null) findings.report(check, outcome, message);
      else findings.report(check, misplaced.outcome, misplaced.message);
    }
    if (row.erased !== null) {
      const { outcome, message } = this.erasures.evaluate(row.erased, {
        ...row,
        eventId: this.consents.eventIdOf(index),
      });
      findings.report('erasure.proof', outcome, message);
    }
    const isErased = row.erased !== null || this.#isListedAsErased(index);
    if (isErased && row.isDisclosed)
      findings.fail('erasure.values', 'the package discloses a value of an erased record');
    else if (isErased) findings.pass('erasure.values');
    if (row.isLacking && !isErased)
      findings.open('disclosure.complete', 'a value is withheld, although all values were to be disclosed');
    else if (!isErased) findings.pass('disclosure.complete');
    this.consents.worsen(index, worst(row.verdict, findings.verdict));
    return { verdict: findings.verdict, isErased };
  }

  #isListedAsErased(index: number): boolean {
    return !this.erasures.isEmpty && this.erasures.isErased(this.consents.eventIdOf(index));
  }
}
