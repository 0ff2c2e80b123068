import type { CheckId, FailingCheck, OpenableCheck, Outcome } from './checks.js';
import { type Finding, type Stated, stated } from './finding.js';
import type { Findings, Location } from './findings.js';
import { type Verdict, verdictOf, worst } from './verdict.js';

/** One outcome of one check about one entry. */
export interface EntryNote extends Stated {
  readonly id: CheckId;
  readonly outcome: Outcome;
}

/**
 * Findings of the checks of one entry. They are passed on to the package's findings, and also determine the entry's own
 * verdict.
 */
export class EntryFindings {
  #verdict: Verdict = 'valid';
  #cause: CheckId | null = null;
  readonly #at: Location | (() => Location);

  /**
   * @param at place of the entry; a function computes it only if a finding needs it
   * @param notes a list that receives every outcome, if this entry is to be shown with its checks
   */
  constructor(
    readonly all: Findings,
    at: Location | (() => Location),
    readonly notes: EntryNote[] | null = null,
  ) {
    this.#at = at;
  }

  get at(): Location {
    return typeof this.#at === 'function' ? this.#at() : this.#at;
  }

  get verdict(): Verdict {
    return this.#verdict;
  }

  /** The check that determined the verdict, or null if the entry is valid. */
  get cause(): CheckId | null {
    return this.#cause;
  }

  /** Adopts the verdict of another item that the entry depends on, and its cause. */
  adopt(verdict: Verdict, cause: CheckId | null = null): void {
    const next = worst(this.#verdict, verdict);
    if (next !== this.#verdict) this.#cause = cause;
    this.#verdict = next;
  }

  pass(id: CheckId): void {
    this.all.pass(id);
    this.notes?.push({ id, outcome: 'pass', message: '' });
  }

  fail(id: FailingCheck, found: Finding, because: CheckId | null = null): void {
    this.report(id, 'fail', found, because);
  }

  open(id: OpenableCheck, found: Finding, because: CheckId | null = null): void {
    this.report(id, 'indeterminate', found, because);
  }

  /**
   * @param found the finding, or null if the outcome alone says enough
   * @param because the check whose finding causes this one
   */
  report(id: CheckId, outcome: Outcome, found: Finding | null, because: CheckId | null = null): void {
    this.all.report(id, outcome, found, this.#at, because);
    this.notes?.push({ id, outcome, ...stated(found) });
    this.adopt(verdictOf(id, outcome), because ?? id);
  }
}
