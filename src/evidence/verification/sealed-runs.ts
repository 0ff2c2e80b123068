import * as z from 'zod';
import { BATCH_SEALED, BatchSealedBody } from '../../../schemas/events/ledger.js';
import { parseBody } from '../../../schemas/events/sealed-event.js';
import { BatchHeader } from '../../../schemas/evidence/batch-header.js';
import type { Queryable } from '../../platform/database/pool.js';

/**
 * How much earlier than its record a batch may be dated, in milliseconds. This is more than two clocks of one
 * installation can differ.
 */
const SLACK_MS = 10 * 60_000;
const PAGE = 100;
/** Number of runs in memory, about 100 bytes each. */
const MAX_RUNS = 100_000;

/** Sealing time and stream runs of a batch or roll-up. */
interface Sealed {
  /** Unix milliseconds. */
  readonly sealedAt: number;
  readonly runs: BatchSealedBody['runs'];
}

const Revisions = z.array(z.object({ revision: z.int() }));
const Bodies = z.array(z.object({ body: z.instanceof(Uint8Array) }));

/**
 * The positions that the ledger's events seal. These events are immutable and large, so each is parsed once, and the
 * parts of the newest ones that verification needs stay in memory.
 */
export class SealedRuns {
  readonly #known = new Map<number, Sealed>();
  #size = 0;

  /** @param maxRuns limit of the runs in memory */
  constructor(private readonly maxRuns = MAX_RUNS) {}

  /**
   * Returns whether a Merkle batch that was sealed since the record's creation contains the record's position. The
   * search starts with the newest batch, so a recent record takes few steps.
   * @param db a handle in a transaction with one snapshot
   * @param createdAt `created_at` of the record
   */
  async contain(
    db: Queryable,
    { stream, revision }: { readonly stream: string; readonly revision: number },
    createdAt: string,
  ): Promise<boolean> {
    const earliest = Date.parse(createdAt) - SLACK_MS;
    for (let page = await newest(db, null); page.length > 0; page = await newest(db, page.at(-1) ?? 0)) {
      for (const event of page) {
        const { runs, sealedAt } = this.#known.get(event) ?? (await this.#read(db, event));
        if (runs.some(([name, first, last]) => name === stream && first <= revision && revision <= last)) return true;
        if (sealedAt < earliest) return false;
      }
    }
    return false;
  }

  async #read(db: Queryable, revision: number): Promise<Sealed> {
    const { rows } = await db.query('select body from ledger_events where revision = $1', [revision]);
    const [row] = Bodies.parse(rows);
    if (row === undefined) throw new Error(`event ${revision} of the ledger is missing`);
    const { header, runs } = parseBody(BatchSealedBody, BATCH_SEALED, row.body);
    const sealed = { runs, sealedAt: Date.parse(BatchHeader.parse(JSON.parse(header)).sealed_at) };
    this.#keep(revision, sealed);
    return sealed;
  }

  #keep(revision: number, sealed: Sealed): void {
    if (this.#known.has(revision)) return;
    this.#known.set(revision, sealed);
    this.#size += sealed.runs.length + 1;
    // A search begins with the newest batch.
    while (this.#size > this.maxRuns) {
      const oldest = Math.min(...this.#known.keys());
      this.#size -= (this.#known.get(oldest)?.runs.length ?? 0) + 1;
      this.#known.delete(oldest);
    }
  }
}

/** The revisions of the newest events that sealed a batch, before a revision, newest first. */
async function newest(db: Queryable, before: number | null): Promise<readonly number[]> {
  const { rows } = await db.query(
    `select revision from ledger_events
      where type = $1 and ($2::bigint is null or revision < $2) order by revision desc limit $3`,
    [BATCH_SEALED, before, PAGE],
  );
  return Revisions.parse(rows).map(({ revision }) => revision);
}
