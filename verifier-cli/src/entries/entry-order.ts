import type { Outcome } from '../findings/checks.js';
import type { EntryFindings } from '../findings/entry-findings.js';
import { type Finding, finding } from '../findings/finding.js';
import type { ReadEntry, UnknownEntry } from './read-entry.js';

interface Place {
  readonly stream: string;
  readonly revision: number;
  readonly batch: number;
  readonly index: number;
  /**
   * Claimed leaf hash of the previous entry, and its own leaf hash, both in hex, or null for an entry of an unknown
   * version.
   */
  readonly link: { readonly previous: string | null; readonly leaf: string } | null;
  readonly findings: EntryFindings;
}

/**
 * Verifies entry by entry that the order is right, that no two entries contradict each other, and that each entry names
 * the hash of the previous one (docs/evidence-format.md §4).
 */
export class EntryOrder {
  #last: Place | null = null;

  accept(read: ReadEntry | UnknownEntry): void {
    const last = this.#last;
    const { stream, revision } = read.entry;
    const { batch, index } = read.source;
    const { findings } = read;
    const link = read.isKnown ? { previous: read.entry.previous, leaf: read.leaf } : null;
    const own = { stream, revision, batch, index, link, findings };
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
  // If an entry is not what was sealed, the fault is in that entry: the next one is right not to name it.
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
