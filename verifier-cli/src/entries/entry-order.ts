import { toHex } from '../../../schemas/crypto/encoding.js';
import type { ReadEntry } from './read-entry.js';

interface Last {
  readonly stream: string;
  readonly revision: number;
  readonly batch: number;
  readonly index: number;
  readonly leaf: string;
}

/** Verifies, entry by entry, that they stand in order, that none contradicts another, and that each names the one before it. */
export class EntryOrder {
  #last: Last | null = null;

  accept({ entry, source, leaf, findings }: ReadEntry): void {
    const last = this.#last;
    const isSameStream = last?.stream === entry.stream;
    const own = {
      stream: entry.stream,
      revision: entry.revision,
      batch: source.batch,
      index: source.index,
      leaf: toHex(leaf),
    };
    this.#last = own;
    if ((entry.revision === 0) !== (entry.previous === null)) {
      findings.fail('entry.chain', 'the first entry of a stream, and only that, names none before it');
    } else if (isSameStream && last.revision === entry.revision - 1 && entry.previous !== last.leaf) {
      findings.fail('entry.chain', 'it names another entry before it than the one that is there');
    } else {
      findings.pass('entry.chain');
    }
    if (last === null || last.stream < entry.stream) {
      findings.pass('entry.order');
    } else if (isSameStream && last.revision === entry.revision) {
      const contradiction =
        last.leaf === own.leaf
          ? 'it stands twice'
          : 'another entry stands at the same place of its stream: the two contradict each other';
      findings.fail('entry.order', contradiction);
    } else if (!isSameStream || last.revision > entry.revision) {
      findings.fail('entry.order', 'it stands behind an entry that comes after it');
    } else if (source.batch < last.batch || (source.batch === last.batch && source.index <= last.index)) {
      findings.fail('entry.order', 'its place in the ledger is not behind that of the entry before it');
    } else {
      findings.pass('entry.order');
    }
  }
}
