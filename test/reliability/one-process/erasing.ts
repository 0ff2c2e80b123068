import type { ErasureJournal } from '../../../src/erasure/index.js';
import { type JournalLine, JournalUnavailable } from '../../../src/erasure/journal.js';
import type { TransactionHooks } from '../../../src/platform/database/pool.js';
import type { Keyring } from '../../../src/platform/keys/index.js';
import { FORGET_CHANGES } from '../../../src/platform/keys/index.js';
import { sealChangedRows } from '../../../src/platform/keys/row-seals.js';
import { testKeyring } from '../../pipeline/relay/pipeline.js';
import type { Scheduler, SimulatedProcess } from './scheduler.js';

/** Key of every site. */
export const SITE_KEY = Buffer.alloc(32, 7);
const SEAL_KEY = Buffer.alloc(32, 9);

/** The part of the keyring that erasures need. */
export const ERASURE_KEYRING: Pick<Keyring, 'siteKey' | 'openKeyRows' | 'open'> = {
  siteKey: async () => SITE_KEY,
  openKeyRows: testKeyring.openKeyRows,
  open: async (row, columns) => {
    const content = row.contentUnder(SEAL_KEY);
    return content === null ? null : columns.parse(content);
  },
};

/** Seals the rows of transactions, as those of an installation do. */
export const SEALING: TransactionHooks = {
  begin: FORGET_CHANGES,
  beforeCommit: (db) => sealChangedRows(db, SEAL_KEY, () => undefined),
};

/** The erasure journal in memory: it outlives the processes, and the database. */
export class MemoryJournal {
  readonly #lines: JournalLine[] = [];

  /** Ids of the records that it lists as erased. */
  get erased(): ReadonlySet<string> {
    return new Set(this.#lines.flatMap(({ erased }) => erased?.event_ids ?? []));
  }

  /** The journal as a process reaches it: a disk may fail, before a line is on it or after. */
  of(process: SimulatedProcess, scheduler: Scheduler): ErasureJournal {
    const lines = this.#lines;
    const call = <T>(what: string, work: () => Promise<T>): Promise<T> =>
      scheduler.call(process, what, work, { failure: () => new JournalUnavailable('the disk failed') });
    return {
      append: (line) => call('append to the journal', async () => void lines.push(line)),
      async *read(offset) {
        const rest = await call('read the journal', async () => lines.slice(offset));
        for (const [place, line] of rest.entries()) yield { line, next: offset + place + 1 };
      },
    };
  }
}
