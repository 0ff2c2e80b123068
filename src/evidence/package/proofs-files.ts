import { equalBytes, toHex } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { hashesOfRanges, inclusionRanges } from '../../../schemas/merkle/proofs.js';
import { Frontier, type TreeNode } from '../../../schemas/merkle/tree.js';
import type { EnclosedBatch } from './batches-file.js';
import { differ } from './errors.js';
import { type FileSink, ndjsonAtHand } from './package-writer.js';

/** A small Merkle tree in memory, for making proofs. */
export class MemoryTree {
  /** Root over the leaves, 32 bytes. */
  readonly root: Uint8Array;
  readonly #levels: Uint8Array[][] = [];

  /** @param leaves leaf hashes in order, 32 bytes each */
  constructor(leaves: readonly Uint8Array[]) {
    const frontier = new Frontier();
    for (const leaf of leaves) {
      for (const { level, hash } of frontier.append(leaf)) {
        const nodes = this.#levels[level];
        if (nodes === undefined) this.#levels[level] = [hash];
        else nodes.push(hash);
      }
    }
    this.root = frontier.root();
  }

  /** The hash of a perfect subtree. @throws RangeError if the tree has no such node */
  readonly node = ({ level, index }: TreeNode): Uint8Array => {
    const hash = this.#levels[level]?.[index];
    if (hash === undefined) throw new RangeError(`the tree has no node ${index} on level ${level}`);
    return hash;
  };
}

/** Approximate characters of a line in addition to its hashes. */
const LINE_OVERHEAD = 24;
const HASH_CHARACTERS = 67;

/**
 * Adds `proofs/<batch>.ndjson`: the audit paths of the enclosed leaves, or all leaves of the batch
 * if that is smaller.
 * @param leaves hashes of all leaves of the batch, in order
 * @throws ExportFailed `log-and-ledger-differ` if the leaves do not lead to the batch's root
 */
export async function addProofs(
  writer: FileSink,
  batch: EnclosedBatch,
  leaves: readonly Uint8Array[],
  indexes: readonly number[],
): Promise<void> {
  const tree = new MemoryTree(leaves);
  if (batch.root === null || leaves.length !== batch.count || !equalBytes(tree.root, batch.root)) {
    differ(`the leaves of batch ${batch.number} do not lead to its root`);
  }
  await writer.add(PACKAGE_FILES.proofs(batch.number), ndjsonAtHand(proofLines(tree, leaves, indexes)));
}

/** The lines of the file, sorted by index. */
export function proofLines(
  tree: MemoryTree,
  leaves: readonly Uint8Array[],
  indexes: readonly number[],
): Iterable<JsonValue> {
  const sorted = [...indexes].sort((a, b) => a - b);
  const asPaths = sorted.reduce(
    (sum, index) => sum + LINE_OVERHEAD + inclusionPathLength(index, leaves.length) * HASH_CHARACTERS,
    0,
  );
  const asLeaves = leaves.length * (LINE_OVERHEAD + HASH_CHARACTERS);
  if (asLeaves < asPaths) return leaves.map((leaf, index) => ({ index, leaf: toHex(leaf) }));
  return sorted.map((index) => ({ index, path: pathOf(tree, index, leaves.length).map(toHex) }));
}

/** The number of hashes in the audit path of a leaf (RFC 9162 §2.1.3.1). */
export function inclusionPathLength(index: number, size: number): number {
  let length = 0;
  for (let at = index, last = size - 1; last > 0; at = Math.floor(at / 2), last = Math.floor(last / 2)) {
    // At the right edge, a node without a sibling moves up unchanged and adds no hash.
    if (at % 2 === 1 || at < last) length += 1;
  }
  return length;
}

/** The audit path of a leaf. */
export function pathOf(tree: MemoryTree, index: number, count: number): readonly Uint8Array[] {
  return hashesOfRanges(inclusionRanges(index, count), tree.node);
}
