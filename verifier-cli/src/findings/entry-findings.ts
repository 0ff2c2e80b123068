import type { FailingCheck, OpenableCheck } from './check-rules.js';
import type { CheckId, Outcome } from './check-table.js';
import type { Findings, Location } from './findings.js';
import { type Verdict, verdictOf, worst } from './verdict.js';

/** One outcome of one check about one entry. */
export interface EntryNote {
  readonly id: CheckId;
  readonly outcome: Outcome;
  readonly message: string;
}

/**
 * What the checks find about one entry: passed on to the package's findings, with the entry's own
 * verdict kept.
 */
export class EntryFindings {
  #verdict: Verdict = 'valid';
  readonly #at: Location | (() => Location);

  /**
   * @param at where the entry stands; a function where that is known only for some trouble
   * @param notes takes in every outcome, where one entry is to be shown with its checks
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

  /** Adopts the verdict of another item that the entry depends on. */
  adopt(verdict: Verdict): void {
    this.#verdict = worst(this.#verdict, verdict);
  }

  pass(id: CheckId): void {
    this.all.pass(id);
    this.notes?.push({ id, outcome: 'pass', message: '' });
  }

  fail(id: FailingCheck, message: string): void {
    this.report(id, 'fail', message);
  }

  open(id: OpenableCheck, message: string): void {
    this.report(id, 'indeterminate', message);
  }

  report(id: CheckId, outcome: Outcome, message: string): void {
    this.all.report(id, outcome, message, this.#at);
    this.notes?.push({ id, outcome, message });
    this.#verdict = worst(this.#verdict, verdictOf(id, outcome));
  }
}
