import { emptyRoot, nodeHash } from './hashing.js';

/**
 * The root over leaf hashes (RFC 9162 §2.1.1), one pass, O(log n) memory.
 * @param leaves leaf hashes in order, 32 bytes each
 */
export function treeRoot(leaves: Iterable<Uint8Array>): Uint8Array {
  const frontier = new Frontier();
  for (const leaf of leaves) frontier.append(leaf);
  return frontier.root();
}

/**
 * A node of a tree whose leaves are level 0: it covers leaves [index · 2^level, (index + 1) ·
 * 2^level).
 */
export interface TreeNode {
  readonly level: number;
  readonly index: number;
}

/**
 * The frontier (right edge) of a growing tree: the roots of its perfect subtrees, largest first. Appending
 * costs O(log n), and only the frontier is kept in memory.
 */
export class Frontier {
  #size: number;
  readonly #hashes: Uint8Array[];

  /**
   * @param size number of leaves so far
   * @param hashes the roots of the perfect subtrees of a tree of that size, largest first
   */
  constructor(size = 0, hashes: readonly Uint8Array[] = []) {
    if (hashes.length !== frontierNodes(size).length)
      throw new RangeError(`the frontier does not match a tree of size ${size}`);
    this.#size = size;
    this.#hashes = [...hashes];
  }

  get size(): number {
    return this.#size;
  }

  get hashes(): readonly Uint8Array[] {
    return this.#hashes;
  }

  /**
   * Adds a leaf hash.
   * @returns the perfect subtrees that it completes, its own level-0 node first: what a store of
   *   tree nodes keeps
   */
  append(leaf: Uint8Array): readonly (TreeNode & { readonly hash: Uint8Array })[] {
    let node = { level: 0, index: this.#size, hash: leaf };
    const completed = [node];
    while (node.index % 2 === 1) {
      const left = this.#hashes.pop();
      if (left === undefined) throw new RangeError('the frontier is shorter than its size requires');
      node = { level: node.level + 1, index: (node.index - 1) / 2, hash: nodeHash(left, node.hash) };
      completed.push(node);
    }
    this.#hashes.push(node.hash);
    this.#size += 1;
    return completed;
  }

  root(): Uint8Array {
    return foldFrontier(this.#hashes);
  }
}

/** The root of a tree from the roots of its perfect subtrees, largest first. */
export function foldFrontier(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length === 0) return emptyRoot();
  return hashes.reduceRight((right, left) => nodeHash(left, right));
}

/** The perfect subtrees of a tree of this size, largest first. */
export function frontierNodes(size: number): readonly TreeNode[] {
  return rangeNodes(0, size);
}

/**
 * The perfect subtrees that make up leaves [start, end), where start is a multiple of the largest
 * power of two below or equal to end − start.
 */
export function rangeNodes(start: number, end: number): readonly TreeNode[] {
  const nodes: TreeNode[] = [];
  let at = start;
  while (at < end) {
    let level = 0;
    while (at % 2 ** (level + 1) === 0 && at + 2 ** (level + 1) <= end) level += 1;
    nodes.push({ level, index: at / 2 ** level });
    at += 2 ** level;
  }
  return nodes;
}
