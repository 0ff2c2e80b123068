import { Frontier, type TreeNode } from '../../../schemas/merkle/tree.js';

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
