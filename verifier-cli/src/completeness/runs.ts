import type { RevisionRun } from '../../../schemas/evidence/batch-header.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { type Finding, finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';

interface OpenRun {
  readonly run: RevisionRun;
  next: number;
  /** Whether an entry of the run has an unknown version. */
  isUnknown: boolean;
}

/**
 * Verifies, entry by entry, that no revision is missing within the runs that the manifest calls complete
 * (docs/evidence-format.md §10).
 */
export class CompleteRuns {
  readonly #runs: OpenRun[];
  /** The runs found complete so far, sorted by stream and revision. */
  readonly complete: RevisionRun[] = [];
  /** The same runs, plus those in which an entry has an unknown version. */
  readonly held: RevisionRun[] = [];
  #current = 0;

  /** @param runs the runs that the manifest claims, or that are required */
  constructor(
    runs: readonly RevisionRun[],
    readonly findings: Findings,
  ) {
    const claimed = [...runs].sort((a, b) => compare(a.stream, b.stream) || a.first - b.first);
    this.#runs = claimed.map((run) => ({ run, next: run.first, isUnknown: false }));
    for (const [i, run] of claimed.entries()) {
      const before = claimed[i - 1];
      const overlaps = before !== undefined && before.stream === run.stream && run.first <= before.last;
      if (run.last < run.first || overlaps) this.#fail(finding('run-empty-or-overlapping'), run);
    }
    if (claimed.length === 0) findings.skip('completeness.runs', finding('nothing-claimed-complete'));
  }

  /**
   * Takes the entries in their order.
   * @param isUnknown whether the entry has an unknown version; it may then be the event that the manifest claims
   */
  accept(stream: string, revision: number, isUnknown: boolean): void {
    while (true) {
      const open = this.#runs[this.#current];
      if (open === undefined) return;
      const side =
        compare(stream, open.run.stream) || (revision > open.run.last ? 1 : revision < open.run.first ? -1 : 0);
      if (side < 0) return;
      if (side === 0) {
        if (revision > open.next)
          this.#fail(finding('revisions-missing', { first: open.next, last: revision - 1 }), open.run, open.next);
        open.next = Math.max(open.next, revision + 1);
        open.isUnknown ||= isUnknown;
        return;
      }
      this.#close(open);
      this.#current += 1;
    }
  }

  finish(): void {
    for (const open of this.#runs.slice(this.#current)) this.#close(open);
  }

  #close({ run, next, isUnknown }: OpenRun): void {
    if (run.last < run.first) return;
    if (next <= run.last) this.#fail(finding('revisions-missing', { first: next, last: run.last }), run, next);
    else {
      this.held.push(run);
      if (isUnknown) this.#open(run);
      else {
        this.findings.pass('completeness.runs');
        this.complete.push(run);
      }
    }
  }

  #open({ stream, first }: RevisionRun): void {
    const message = finding('run-unknown-entries');
    this.findings.open('completeness.runs', message, { file: PACKAGE_FILES.entries, stream, revision: first });
  }

  #fail(message: Finding, run: RevisionRun, revision: number = run.first): void {
    this.findings.fail('completeness.runs', message, { file: PACKAGE_FILES.entries, stream: run.stream, revision });
  }
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
