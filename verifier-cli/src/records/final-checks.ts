import type { Resolution } from '../documents/documents.js';
import { beginsAfter, evaluateInForce, isBeforeText } from '../documents/in-force.js';
import type { LongestValidity } from '../documents/notice-history.js';
import type { Erasures } from '../entries/erasures.js';
import type { CheckId } from '../findings/checks.js';
import { EntryFindings, type EntryNote } from '../findings/entry-findings.js';
import { finding } from '../findings/finding.js';
import type { Findings, Location } from '../findings/findings.js';
import { type Verdict, worst } from '../findings/verdict.js';
import type { ErasureAbsence } from './absence.js';
import type { ConsentTable } from './consent-table.js';
import { SOON_MS, type Statements } from './statements.js';

const UNREAD: Resolution = {
  outcome: 'indeterminate',
  message: finding('record-unread'),
  version: null,
  configuration: null,
  because: 'record.format',
};

/** Facts that are known after the whole file was read. */
interface Whole {
  /** The worst verdict on a policy of the ledger. */
  readonly policyVerdict: Verdict;
  /** Whether the package leaves erasures out. */
  readonly absence: ErasureAbsence;
  /** Results by reference: see `Documents`. */
  readonly resolutions: readonly Resolution[];
  /** Whether every notice of the site up to the end of a batch is enclosed and of a known type. */
  readonly knowsNoticesUpTo: (batch: number) => boolean;
  /** The longest validity that the site published before a consent in a batch. */
  readonly longestValidity: (batch: number) => LongestValidity;
  /** The check that explains why they are not known. */
  readonly noticesUnknownBecause: CheckId;
  readonly statements: Statements;
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
    const { absence, resolutions, knowsNoticesUpTo, longestValidity, policyVerdict } = this.whole;
    const row = this.consents.row(index);
    const findings = new EntryFindings(this.findings, () => this.consents.locationOf(index), notes);
    findings.adopt(policyVerdict);
    const version = resolutions[row.version] ?? UNREAD;
    const configuration = resolutions[row.configuration] ?? UNREAD;
    findings.report('document.version', version.outcome, version.message, version.because);
    findings.report('document.configuration', configuration.outcome, configuration.message, configuration.because);
    const inForce = evaluateInForce(
      version.version,
      configuration.configuration,
      row,
      longestValidity(row.batch),
      knowsNoticesUpTo(row.batch),
    );
    const because = inForce.outcome === 'indeterminate' ? this.whole.noticesUnknownBecause : null;
    findings.report('document.in-force', inForce.outcome, inForce.message, because);
    if (row.erased !== null) {
      const {
        outcome,
        message,
        because = null,
      } = this.erasures.evaluate(row.erased, {
        ...row,
        eventId: this.consents.eventIdOf(index),
      });
      findings.report('erasure.proof', outcome, message, because);
    }
    const isNamed = this.#isNamedByErasure(index);
    if (isNamed && this.erasures.hasWrongTag(this.consents.eventIdOf(index)))
      findings.fail('erasure.proof', finding('erasure-wrong-tag'));
    const isErased = row.erased !== null || isNamed;
    this.#state(
      index,
      inForce.outcome === 'pass' && beginsAfter(version.version, configuration.configuration, row.createdAt),
      isBeforeText(version.version, row),
    );
    if (row.matches && !isErased) {
      const problem = absence.kind === 'shown' ? absence.problems.get(index) : undefined;
      if (problem !== undefined) findings.report('erasure.absent', problem.outcome, problem.message);
      else if (this.erasures.mayErase(row)) findings.open('erasure.absent', finding('erasure-may-follow'));
      else if (absence.kind === 'shown') findings.pass('erasure.absent');
    }
    if (isErased && row.isDisclosed) findings.fail('erasure.values', finding('erased-value-disclosed'));
    else if (isErased) findings.pass('erasure.values');
    if (row.isLacking && !isErased) findings.open('disclosure.complete', finding('value-withheld'));
    else if (!isErased) findings.pass('disclosure.complete');
    this.consents.worsen(index, worst(row.verdict, findings.verdict));
    return { verdict: findings.verdict, isErased };
  }

  /** Notes what a reader should know about a consent although no rule forbids it. */
  #state(index: number, isEarly: boolean, isOlderThanText: boolean): void {
    const { statements } = this.whole;
    const at = (): Location => this.consents.locationOf(index);
    const erasedAt = this.erasures.isEmpty ? null : this.erasures.timeOf(this.consents.eventIdOf(index));
    if (isEarly) statements.acceptEarly(at);
    if (isOlderThanText) statements.acceptOlderThanText(at);
    if (erasedAt !== null && erasedAt - this.consents.row(index).createdAt < SOON_MS) statements.acceptErasedSoon(at);
  }

  #isNamedByErasure(index: number): boolean {
    return !this.erasures.isEmpty && this.erasures.isErased(this.consents.eventIdOf(index));
  }
}
