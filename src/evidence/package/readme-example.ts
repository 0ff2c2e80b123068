import { toHex } from '../../../schemas/crypto/encoding.js';
import { entryLeaf } from '../../../schemas/evidence/entry.js';
import { inclusionRanges } from '../../../schemas/merkle/proofs.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { ExampleEntry } from './entries-file.js';
import { readBatchLeaves, readProofs } from './ledger-reader.js';
import { MemoryTree } from './memory-tree.js';
import { pathOf } from './proofs-files.js';

/** A step of an audit path: the sibling's hash in hex, and its side. */
export interface PathStep {
  readonly sibling: string;
  readonly side: 'left' | 'right';
}

/** The data for checking one record by hand, from its text to the stamped checkpoint. */
export interface WorkedExample {
  /** Line number in `entries.ndjson`, from 1. */
  readonly entryLine: number;
  /** Leaf hash, in hex. */
  readonly leaf: string;
  readonly batch: number;
  readonly index: number;
  readonly batchPath: readonly PathStep[];
  /** Line number in `batches.ndjson`, from 1. */
  readonly batchLine: number;
  readonly ledgerPath: readonly PathStep[];
}

/**
 * Computes the example of the README.
 * @param batches numbers of the enclosed batches, sorted
 * @param size size of the package's checkpoint
 */
export async function workedExample(
  db: Queryable,
  example: ExampleEntry,
  batches: readonly number[],
  size: number,
): Promise<WorkedExample> {
  const leaves = (await readBatchLeaves(db, example.batch)).map(({ hash }) => hash);
  const batchPath = pathOf(new MemoryTree(leaves), example.index, leaves.length).map(toHex);
  const [ledgerPath = []] = await readProofs(db, [inclusionRanges(example.batch, size)]);
  return {
    entryLine: example.line,
    leaf: toHex(entryLeaf(example.text)),
    batch: example.batch,
    index: example.index,
    batchPath: withSides(batchPath, example.index, leaves.length),
    batchLine: batches.indexOf(example.batch) + 1,
    ledgerPath: withSides(ledgerPath, example.batch, size),
  };
}

/** Adds to each sibling its side. */
function withSides(path: readonly string[], index: number, size: number): readonly PathStep[] {
  const ranges = inclusionRanges(index, size);
  return path.map((sibling, i) => ({ sibling, side: (ranges[i]?.start ?? 0) > index ? 'right' : 'left' }));
}
