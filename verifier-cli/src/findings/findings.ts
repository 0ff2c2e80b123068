import type { FailingCheck, OpenableCheck } from './checks.js';
import { CHECK_IDS, CHECKS, type CheckId, type Outcome } from './checks.js';
import { cutText, type Finding, type Stated, stated, wordsOf } from './finding.js';
import { type Verdict, verdictOf, worst } from './verdict.js';

/** Place of a finding in the package. Every text in it may be hostile. */
export interface Location {
  readonly file?: string | undefined;
  /** Counted from 1. */
  readonly line?: number | undefined;
  readonly stream?: string | undefined;
  readonly revision?: number | undefined;
  readonly event_id?: string | undefined;
}

/** One thing found, and where. */
export interface Problem extends Location, Stated {
  readonly outcome: Outcome;
  /** The check whose finding causes this one. */
  readonly because?: CheckId | undefined;
}

/** Result of one check over the whole package. */
export interface CheckResult extends Stated {
  readonly id: CheckId;
  readonly outcome: Outcome;
  readonly meaning: string;
  readonly required: boolean;
  readonly counts: Readonly<Record<Outcome, number>>;
  /** The first failures, then the first undecided items, at most `MAX_PROBLEMS` of each. */
  readonly problems: readonly Problem[];
  /** The checks whose findings cause all of these. Empty if one of them has no other cause. */
  readonly because: readonly CheckId[];
  /** The checks that fail or remain undecided because of this one, alone or with others. */
  readonly affects: readonly CheckId[];
}

export interface Warning extends Location, Stated {}

/** How many places of each outcome a check's result names. */
export const MAX_PROBLEMS = 20;

interface Tally {
  readonly counts: Record<Outcome, number>;
  readonly failed: Problem[];
  readonly open: Problem[];
  note: Stated | null;
  /** Failures and undecided items that are not caused by another check. */
  own: number;
  readonly causes: Set<CheckId>;
}

/** Collects what the checks find, in bounded memory. */
export class Findings {
  readonly #tallies = new Map<CheckId, Tally>();
  readonly #warnings: Warning[] = [];
  #warningCount = 0;
  #failures = 0;

  /** How often a check failed. */
  get failures(): number {
    return this.#failures;
  }

  pass(id: CheckId): void {
    this.#tally(id).counts.pass += 1;
  }

  fail(id: FailingCheck, found: Finding, at: Location = {}, because: CheckId | null = null): void {
    this.report(id, 'fail', found, at, because);
  }

  /** The check could not be decided. */
  open(id: OpenableCheck, found: Finding, at: Location = {}, because: CheckId | null = null): void {
    this.report(id, 'indeterminate', found, at, because);
  }

  /** The check does not apply. */
  skip(id: CheckId, found: Finding): void {
    this.report(id, 'not-applicable', found);
  }

  /**
   * @param found the finding, or null if the outcome alone says enough
   * @param because the check whose finding causes this one; this changes no outcome
   */
  report(
    id: CheckId,
    outcome: Outcome,
    found: Finding | null,
    at: Location | (() => Location) = {},
    because: CheckId | null = null,
  ): void {
    const tally = this.#tally(id);
    tally.counts[outcome] += 1;
    if (outcome === 'fail') this.#failures += 1;
    if (outcome === 'pass' || outcome === 'not-applicable') {
      tally.note ??= stated(found);
      return;
    }
    const cause = because === id ? null : because;
    if (cause === null) tally.own += 1;
    else tally.causes.add(cause);
    const list = outcome === 'fail' ? tally.failed : tally.open;
    if (list.length >= MAX_PROBLEMS) return;
    const place = cutLocation(typeof at === 'function' ? at() : at);
    list.push({ outcome, ...stated(found), ...place, ...(cause !== null && { because: cause }) });
  }

  /** Reports something that a reader should know but that changes no verdict. */
  warn(found: Finding, at: Location = {}): void {
    this.#warningCount += 1;
    if (this.#warnings.length < MAX_PROBLEMS) this.#warnings.push({ ...stated(found), ...cutLocation(at) });
  }

  get warnings(): { readonly count: number; readonly first: readonly Warning[] } {
    return { count: this.#warningCount, first: this.#warnings };
  }

  outcomeOf(id: CheckId): Outcome {
    const tally = this.#tallies.get(id);
    if (tally === undefined) return 'not-applicable';
    const outcomes: Outcome[] = ['fail', 'indeterminate', 'pass'];
    return outcomes.find((outcome) => tally.counts[outcome] > 0) ?? 'not-applicable';
  }

  /** The result of every check of the table, in its order. */
  results(): readonly CheckResult[] {
    const causes = new Map(CHECK_IDS.map((id) => [id, this.#causesOf(id, new Set())]));
    const caused = CHECK_IDS.filter((id) => causes.get(id)?.length);
    const affectedBy = (cause: CheckId): readonly CheckId[] => caused.filter((id) => causes.get(id)?.includes(cause));
    return CHECK_IDS.map((id) => ({ ...this.#result(id), because: causes.get(id) ?? [], affects: affectedBy(id) }));
  }

  /** Returns the checks that, by findings of their own, cause all findings of this one. */
  #causesOf(id: CheckId, seen: ReadonlySet<CheckId>): readonly CheckId[] {
    const tally = this.#tallies.get(id);
    if (tally === undefined || tally.own > 0 || seen.has(id)) return [];
    const causes = [...tally.causes];
    if (!causes.every((cause) => this.#isBad(cause))) return [];
    const found = causes.flatMap((cause) => {
      const deeper = this.#causesOf(cause, new Set([...seen, id]));
      return deeper.length === 0 ? [cause] : deeper;
    });
    return found.length === 0 ? [] : CHECK_IDS.filter((one) => found.includes(one));
  }

  /** The verdict over everything found so far by these checks. */
  verdict(ids: readonly CheckId[] = CHECK_IDS): Verdict {
    return ids.map((id) => verdictOf(id, this.outcomeOf(id))).reduce(worst, 'valid');
  }

  #isBad(id: CheckId): boolean {
    return ['fail', 'indeterminate'].includes(this.outcomeOf(id));
  }

  #tally(id: CheckId): Tally {
    const known = this.#tallies.get(id);
    if (known !== undefined) return known;
    const tally: Tally = {
      counts: { pass: 0, fail: 0, indeterminate: 0, 'not-applicable': 0 },
      failed: [],
      open: [],
      note: null,
      own: 0,
      causes: new Set(),
    };
    this.#tallies.set(id, tally);
    return tally;
  }

  #result(id: CheckId): Omit<CheckResult, 'because' | 'affects'> {
    const tally = this.#tally(id);
    const outcome = this.outcomeOf(id);
    const problems = [...tally.failed, ...tally.open].map(({ because, ...problem }) =>
      because !== undefined && this.#isBad(because) ? { ...problem, because } : problem,
    );
    const [first] = outcome === 'pass' ? [] : problems;
    const said = first === undefined ? (tally.note ?? { message: CHECKS[id].meaning }) : wordsOf(first);
    return {
      id,
      outcome,
      ...said,
      meaning: CHECKS[id].meaning,
      required: CHECKS[id].required,
      counts: { ...tally.counts },
      problems,
    };
  }
}

/** Copies the texts, because as substrings of a line they would keep a whole block of lines in memory. */
function cutLocation(at: Location): Location {
  return structuredClone(at.file === undefined ? at : { ...at, file: cutText(at.file) });
}
