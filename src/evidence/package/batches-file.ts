import { fromHex, toHex } from '../../../schemas/crypto/encoding.js';
import {
  BatchHeader,
  batchLeaf,
  isBatch,
  type KeyedRun,
  keyedRunLeaf,
  type StreamKeyOf,
} from '../../../schemas/evidence/batch-header.js';
import { type Level, levelOf } from '../../../schemas/evidence/roll-ups.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { inclusionRanges } from '../../../schemas/merkle/proofs.js';
import { ShownLeavesProof } from '../../../schemas/merkle/shown-leaves.js';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import { readRuns } from '../../pipeline/ledger/roll-up.js';
import type { Queryable } from '../../platform/database/pool.js';
import { differ } from './errors.js';
import { type BatchRow, type ExportCheckpoint, hashFromHex, readBatches, readProofs } from './ledger-reader.js';

/** Number of batches that one statement reads. Each may have thousands of leaves. */
const PAGE = 20;

/** The data of an enclosed batch or roll-up that other files need. */
export interface EnclosedBatch {
  readonly number: number;
  readonly level: Level;
  readonly count: number;
  /** Merkle root of a batch, 32 bytes, or null for a roll-up. */
  readonly root: Uint8Array | null;
  readonly tagsCount: number;
  /** In hex. */
  readonly tagsRoot: string;
}

/** Writes the lines of `batches.ndjson`, and collects the older time stamps that the headers name. */
export class BatchesFile {
  /** The `after` of the headers: SHA-256 of time stamp responses, in hex, by checkpoint size. */
  readonly after = new Map<number, Set<string>>();
  readonly batches = new Map<number, EnclosedBatch>();

  /**
   * @param streams the streams; each line shows the run of one with its neighbours, or that there is no run
   * @param undated number of a Merkle batch whose older time stamp is not collected, or null if there is none
   */
  constructor(
    readonly db: Queryable,
    readonly streams: readonly string[],
    readonly keyOf: StreamKeyOf,
    readonly checkpoint: ExportCheckpoint,
    readonly undated: number | null,
  ) {}

  /** The lines of the file. @param numbers numbers of the batches, sorted */
  async *lines(numbers: readonly number[], beforePage: () => Promise<void>): AsyncGenerator<JsonValue, void> {
    const { size } = this.checkpoint;
    for (let i = 0; i < numbers.length; i += PAGE) {
      await beforePage();
      const page = numbers.slice(i, i + PAGE);
      const rows = await readBatches(this.db, page);
      // Roll-ups are read one at a time: each may have as many runs as thousands of batches.
      const runsOfBatches = await readRuns(
        this.db,
        page.filter((number) => isBatch(levelOf(number))),
        this.keyOf,
      );
      const paths = await readProofs(
        this.db,
        page.map((number) => inclusionRanges(number, size)),
      );
      for (const [at, row] of rows.entries()) {
        const { number } = row;
        const runs = isBatch(levelOf(number)) ? runsOfBatches : await readRuns(this.db, [number], this.keyOf);
        yield this.#line(row, runs.get(number) ?? [], paths[at] ?? []);
      }
    }
  }

  #line({ number, header: text }: BatchRow, runs: readonly KeyedRun[], path: readonly string[]): JsonValue {
    const { size, root } = this.checkpoint;
    const isInLedger = verifyInclusion(number, size, batchLeaf(text), path.map(hashFromHex), root).ok;
    if (!isInLedger) differ(`batch ${number} is not the one that the ledger holds`);
    const header = BatchHeader.parse(JSON.parse(text));
    if (header.after !== null && number !== this.undated) {
      const named = this.after.get(header.after.size) ?? new Set();
      this.after.set(header.after.size, named.add(header.after.sha256));
    }
    this.batches.set(number, {
      number,
      level: header.level,
      count: header.count,
      root: header.root === null ? null : hashFromHex(header.root),
      tagsCount: header.tags_count,
      tagsRoot: header.tags_root,
    });
    return { header: text, path: [...path], ...this.#shownRuns(header, runs) };
  }

  #shownRuns(header: BatchHeader, runs: readonly KeyedRun[]): { streams: JsonValue[]; hashes: JsonValue[] } {
    const shown = shownIndexes(runs, this.streams.map(this.keyOf));
    const proof = new ShownLeavesProof();
    for (const [index, run] of runs.entries()) proof.append(keyedRunLeaf(run), shown.has(index));
    const root = fromHex(header.streams_root);
    if (root === null || Buffer.compare(proof.root(), root) !== 0) {
      differ(`the streams of batch ${header.number} are not those sealed`);
    }
    return {
      streams: [...shown].sort((a, b) => a - b).flatMap((index) => this.#shownRun(runs, index)),
      hashes: proof.hashes().map(toHex),
    };
  }

  #shownRun(runs: readonly KeyedRun[], index: number): JsonValue[] {
    const run = runs[index];
    if (run === undefined) return [];
    const { key, start, first, last } = run;
    return [{ index, key, start, first, last }];
  }
}

/** Returns the indexes of the streams' runs, and of the leaves on both sides of where each stream is or would be. */
function shownIndexes(runs: readonly KeyedRun[], keys: readonly string[]): ReadonlySet<number> {
  const shown = new Set<number>();
  for (const key of keys) {
    const found = runs.findIndex((run) => run.key >= key);
    const place = found < 0 ? runs.length : found;
    const after = runs[place]?.key === key ? place + 1 : place;
    for (let index = place - 1; index <= after; index += 1) {
      if (index >= 0 && index < runs.length) shown.add(index);
    }
  }
  return shown;
}
