import type { EntryLine } from '../../../schemas/evidence/package-lines.js';
import type { Outcome } from '../findings/check-table.js';
import type { EntryFindings } from '../findings/entry-findings.js';
import { type Finding, finding } from '../findings/finding.js';

/** The members of an entry that decide on its order. */
export interface OrderedEntry {
  readonly stream: string;
  readonly revision: number;
  readonly source: Pick<EntryLine, 'batch' | 'index'>;
  /** Hashes that chain the entry, by its scheme; null for an entry of an unknown version. */
  readonly link: { readonly previous: string | null; readonly leaf: string } | null;
  readonly findings: EntryFindings;
}

interface Place {
  readonly stream: string;
  readonly revision: number;
  readonly batch: number;
  readonly index: number;
  /** Leaf hash of the entry before it, as it claims, and its own, both in hex. */
  readonly link: OrderedEntry['link'];
  readonly findings: EntryFindings;
}

/**
 * Verifies, entry by entry, the order, that no two contradict each other, and that each has the
 * hash of the previous one.
 */
export class EntryOrder {
  #last: Place | null = null;

  accept({ stream, revision, source, link, findings }: OrderedEntry): void {
    const last = this.#last;
    const own = { stream, revision, batch: source.batch, index: source.index, link, findings };
    this.#last = own;
    if (link !== null) {
      const problem = linkProblem({ ...own, link }, last);
      if (problem === null) findings.pass('entry.chain');
      else findings.report('entry.chain', problem.outcome, problem.message);
    }
    const disorder = orderProblem(own, last);
    if (disorder === null) findings.pass('entry.order');
    else findings.fail('entry.order', disorder);
  }
}

function linkProblem(
  own: Place & { readonly link: NonNullable<Place['link']> },
  last: Place | null,
): { readonly outcome: Outcome; readonly message: Finding } | null {
  const { previous } = own.link;
  if ((own.revision === 0) !== (previous === null)) {
    const message = finding('previous-null');
    return { outcome: 'fail', message };
  }
  const isNeighbour = last !== null && last.stream === own.stream && last.revision === own.revision - 1;
  if (!isNeighbour) return null;
  if (last.link === null) return { outcome: 'indeterminate', message: finding('previous-unknown') };
  if (previous === last.link.leaf) return null;
  // An entry that is not what was sealed is at fault itself; the next one is right not to name it.
  if (last.findings.verdict === 'invalid') return null;
  return { outcome: 'fail', message: finding('previous-wrong') };
}

function orderProblem(own: Place, last: Place | null): Finding | null {
  if (last === null || last.stream < own.stream) return null;
  if (last.stream > own.stream || last.revision > own.revision) return finding('entry-misplaced');
  if (last.revision === own.revision) {
    return last.link !== null && last.link.leaf === own.link?.leaf
      ? finding('entry-twice')
      : finding('entry-contradiction');
  }
  const isBehind = own.batch > last.batch || (own.batch === last.batch && own.index > last.index);
  return isBehind ? null : finding('entry-not-later');
}
