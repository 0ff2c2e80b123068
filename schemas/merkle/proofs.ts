import { foldFrontier, rangeNodes, type TreeNode } from './tree.js';

/** Source of a proof's hashes: returns the hash of a perfect subtree of the tree. */
export type NodeSource = (node: TreeNode) => Uint8Array;

/** Leaves [start, end) of a tree. */
export interface LeafRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The subtrees whose roots make up the audit path of a leaf, from its sibling upwards (RFC 9162
 * §2.1.3.1).
 */
export function inclusionRanges(index: number, size: number): readonly LeafRange[] {
  const path: LeafRange[] = [];
  let start = 0;
  let end = size;
  while (end - start > 1) {
    const middle = start + splitPoint(end - start);
    if (index < middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
    }
  }
  return path.reverse();
}

/**
 * The subtrees whose roots make up the consistency proof between two sizes, 0 < first < second (RFC
 * 9162 §2.1.4.1).
 */
export function consistencyRanges(first: number, second: number): readonly LeafRange[] {
  if (first <= 0 || first >= second) return [];
  const path: LeafRange[] = [];
  let start = 0;
  let end = second;
  let isComplete = true;
  while (first !== end) {
    const middle = start + splitPoint(end - start);
    if (first <= middle) {
      path.push({ start: middle, end });
      end = middle;
    } else {
      path.push({ start, end: middle });
      start = middle;
      isComplete = false;
    }
  }
  if (!isComplete) path.push({ start, end });
  return path.reverse();
}

/**
 * The perfect subtrees that a proof over these ranges needs: what to fetch from a store of tree
 * nodes.
 */
export function nodesOfRanges(ranges: readonly LeafRange[]): readonly TreeNode[] {
  return ranges.flatMap(({ start, end }) => rangeNodes(start, end));
}

/** The proof's hashes, from the hashes of perfect subtrees. */
export function hashesOfRanges(ranges: readonly LeafRange[], source: NodeSource): readonly Uint8Array[] {
  return ranges.map(({ start, end }) => foldFrontier(rangeNodes(start, end).map(source)));
}

/** Largest power of two below n, n > 1. */
function splitPoint(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}
