import { emptyRoot, nodeHash } from './hashing.js';

/** The root of a tree, and the inclusion path of each of its leaves, from the sibling upwards. */
export interface TreePaths {
  readonly root: Uint8Array;
  readonly paths: readonly (readonly Uint8Array[])[];
}

/**
 * The root and all inclusion paths of a small tree (RFC 9162 §2.1.1, §2.1.3.1), with one hash for
 * each node. A node without a sibling moves up unchanged, which yields the same tree.
 * @param leaves leaf hashes in order, 32 bytes each
 */
export function treePaths(leaves: readonly Uint8Array[]): TreePaths {
  const paths: Uint8Array[][] = leaves.map(() => []);
  let level = leaves;
  for (let width = 1; level.length > 1; width *= 2) {
    for (const [leaf, path] of paths.entries()) {
      const sibling = level[Math.floor(leaf / width) ^ 1];
      if (sibling !== undefined) path.push(sibling);
    }
    const above: Uint8Array[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i];
      const right = level[i + 1];
      if (left !== undefined) above.push(right === undefined ? left : nodeHash(left, right));
    }
    level = above;
  }
  return { root: level[0] ?? emptyRoot(), paths };
}
