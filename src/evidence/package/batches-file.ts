import { z } from 'zod';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { consentsStream, noticesStream, POLICY_STREAM } from '../../../schemas/events/streams.js';
import {
  BatchHeader,
  batchLeaf,
  type StreamRun,
  sortedRuns,
  streamRunLeaf,
  streamsRoot,
} from '../../../schemas/evidence/batch-header.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { hashesOfRanges, inclusionRanges } from '../../../schemas/merkle/proofs.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import type { Queryable } from '../../platform/database/pool.js';
import { differ } from './errors.js';
import { type BatchRow, type ExportCheckpoint, hashFromHex, readBatches, readProofs } from './ledger-reader.js';
import { MemoryTree } from './memory-tree.js';

/** Batches that one statement reads: each may have thousands of leaves. */
const PAGE = 20;

/** The data of an enclosed batch that other files need. */
export interface EnclosedBatch {
  readonly number: number;
  readonly count: number;
  /** Merkle root, 32 bytes. */
  readonly root: Uint8Array;
}

/**
 * Makes the lines of `batches.ndjson`, and collects the older time stamps that the headers name.
 */
export class BatchesFile {
  /** The `after` of the headers: SHA-256 of a time-stamp response, in hex, by checkpoint size. */
  readonly after = new Map<number, string>();
  readonly batches = new Map<number, EnclosedBatch>();

  constructor(
    readonly db: Queryable,
    readonly siteId: string,
    readonly checkpoint: ExportCheckpoint,
  ) {}

  /** The lines of the file. @param numbers numbers of the batches, sorted */
  async *lines(numbers: readonly number[], beforePage: () => Promise<void>): AsyncGenerator<JsonValue, void> {
    const { size } = this.checkpoint;
    for (let i = 0; i < numbers.length; i += PAGE) {
      await beforePage();
      const page = numbers.slice(i, i + PAGE);
      const rows = await readBatches(this.db, page);
      const runs = await readRuns(this.db, page);
      const paths = await readProofs(
        this.db,
        page.map((number) => inclusionRanges(number, size)),
      );
      for (const [at, row] of rows.entries()) yield this.#line(row, runs.get(row.number) ?? [], paths[at] ?? []);
    }
  }

  #line({ number, header: text }: BatchRow, runs: readonly StreamRun[], path: readonly string[]): JsonValue {
    const { size, root } = this.checkpoint;
    const isInLedger = verifyInclusion(number, size, batchLeaf(text), path.map(hashFromHex), root).ok;
    if (!isInLedger) differ(`batch ${number} is not the one that the ledger holds`);
    const header = BatchHeader.parse(JSON.parse(text));
    if (toHex(streamsRoot(runs)) !== header.streams_root) differ(`the streams of batch ${number} are not those sealed`);
    if (header.after !== null) this.after.set(header.after.size, header.after.sha256);
    this.batches.set(number, { number, count: header.count, root: hashFromHex(header.root) });
    return { header: text, path: [...path], streams_count: runs.length, streams: this.#ownRuns(runs) };
  }

  #ownRuns(runs: readonly StreamRun[]): JsonValue[] {
    const own = [consentsStream(this.siteId), noticesStream(this.siteId), POLICY_STREAM];
    const tree = new MemoryTree(runs.map(streamRunLeaf));
    return runs.flatMap((run, index) =>
      own.includes(run.stream)
        ? [{ ...run, index, path: hashesOfRanges(inclusionRanges(index, runs.length), tree.node).map(toHex) }]
        : [],
    );
  }
}

const runRows = z.array(z.object({ batch: z.int(), stream: z.string(), first: z.int(), last: z.int() }));

/** Reads the runs of every stream in these batches, in the order of `streams_root`. */
async function readRuns(db: Queryable, numbers: readonly number[]): Promise<ReadonlyMap<number, readonly StreamRun[]>> {
  const { rows } = await db.query(
    `select batch, stream, min(revision) as first, max(revision) as last from leaves
      where batch = any($1::bigint[]) group by batch, stream`,
    [numbers],
  );
  const found = new Map<number, StreamRun[]>();
  for (const { batch, ...run } of runRows.parse(rows)) {
    const runs = found.get(batch);
    if (runs === undefined) found.set(batch, [run]);
    else runs.push(run);
  }
  return new Map([...found].map(([batch, runs]) => [batch, sortedRuns(runs)]));
}
