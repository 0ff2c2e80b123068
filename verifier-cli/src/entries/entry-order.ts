import type { EntryFindings } from '../findings/entry-findings.js';
import type { ReadEntry } from './read-entry.js';

interface Place {
  readonly stream: string;
  readonly revision: number;
  /** Leaf hash of the entry before it, as it claims. */
  readonly previous: string | null;
  readonly batch: number;
  readonly index: number;
  /** In hex. */
  readonly leaf: string;
  readonly findings: EntryFindings;
}

/**
 * Verifies, entry by entry, the order, that no two contradict each other, and that each has the
 * hash of the previous one.
 */
export class EntryOrder {
  #last: Place | null = null;

  accept({ entry, source, leaf, findings }: ReadEntry): void {
    const last = this.#last;
    const { stream, revision, previous } = entry;
    const own = { stream, revision, previous, batch: source.batch, index: source.index, leaf, findings };
    this.#last = own;
    const brokenLink = chainProblem(own, last);
    if (brokenLink === null) findings.pass('entry.chain');
    else findings.fail('entry.chain', brokenLink);
    const disorder = orderProblem(own, last);
    if (disorder === null) findings.pass('entry.order');
    else findings.fail('entry.order', disorder);
  }
}

function chainProblem(own: Place, last: Place | null): string | null {
  if ((own.revision === 0) !== (own.previous === null)) {
    return '`previous` must be null for the first entry of a stream, and only for that one';
  }
  const isNeighbour = last !== null && last.stream === own.stream && last.revision === own.revision - 1;
  if (!isNeighbour || own.previous === last.leaf) return null;
  // An entry that is not what was sealed is at fault itself; the next one is right not to name it.
  return last.findings.verdict === 'invalid' ? null : '`previous` is not the hash of the previous entry';
}

function orderProblem(own: Place, last: Place | null): string | null {
  if (last === null || last.stream < own.stream) return null;
  if (last.stream > own.stream || last.revision > own.revision)
    return 'the entry follows an entry that belongs after it';
  if (last.revision === own.revision) {
    return last.leaf === own.leaf
      ? 'the entry is in the file twice'
      : 'another entry has the same stream and revision: the two contradict each other';
  }
  const isBehind = own.batch > last.batch || (own.batch === last.batch && own.index > last.index);
  return isBehind ? null : 'its position in the ledger is not after that of the previous entry';
}
