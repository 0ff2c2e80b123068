import { equalBytes } from '../crypto/encoding.js';
import { HASH_LENGTH, MAX_TREE_SIZE, nodeHash } from './hashing.js';

/** Why a proof is refused. */
export type ProofProblem =
  | 'the path does not lead to the root'
  | 'the index and the size must be integers below 2^53'
  | 'the index is not below the size'
  | 'a hash is not 32 bytes long'
  | 'the path is too long'
  | 'the path is too short'
  | 'the sizes must be integers below 2^53'
  | 'the first size is larger than the second'
  | 'the first size is 0'
  | 'the path must be empty'
  | 'the two checkpoints have one size but different roots'
  | 'the path is empty'
  | 'the path does not lead to the first root'
  | 'the path does not lead to the second root';

export interface Refused {
  readonly ok: false;
  readonly reason: ProofProblem;
}

export type ProofVerdict = { readonly ok: true } | Refused;

/**
 * Verifies an inclusion proof (RFC 9162 §2.1.3.2). Never throws, because every input may be hostile.
 * @param index the leaf's place, from 0
 * @param size number of leaves of the tree
 * @param leaf the leaf's hash, 32 bytes
 * @param path the audit path from the leaf's sibling upwards, 32 bytes each
 * @param root the tree's root hash, 32 bytes
 */
export function verifyInclusion(
  index: number,
  size: number,
  leaf: Uint8Array,
  path: readonly Uint8Array[],
  root: Uint8Array,
): ProofVerdict {
  const computed = rootFromInclusionProof(index, size, leaf, path);
  if (!(computed instanceof Uint8Array)) return computed;
  return equalBytes(computed, root) ? { ok: true } : refuse('the path does not lead to the root');
}

/** The root that an audit path leads to, or why the path is invalid. */
export function rootFromInclusionProof(
  index: number,
  size: number,
  leaf: Uint8Array,
  path: readonly Uint8Array[],
): Uint8Array | Refused {
  if (!isTreeNumber(index) || !isTreeNumber(size)) return refuse('the index and the size must be integers below 2^53');
  if (index >= size) return refuse('the index is not below the size');
  if (leaf.length !== HASH_LENGTH || path.some((hash) => hash.length !== HASH_LENGTH)) {
    return refuse('a hash is not 32 bytes long');
  }
  let fn = index;
  let sn = size - 1;
  let hash = leaf;
  for (const sibling of path) {
    if (sn === 0) return refuse('the path is too long');
    if (isOdd(fn) || fn === sn) {
      hash = nodeHash(sibling, hash);
      while (!isOdd(fn) && fn !== 0) {
        fn = half(fn);
        sn = half(sn);
      }
    } else {
      hash = nodeHash(hash, sibling);
    }
    fn = half(fn);
    sn = half(sn);
  }
  return sn === 0 ? hash : refuse('the path is too short');
}

export function isTreeNumber(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= MAX_TREE_SIZE;
}

// Bit operators would truncate numbers to 32 bits.
export function isOdd(value: number): boolean {
  return value % 2 === 1;
}

export function half(value: number): number {
  return Math.floor(value / 2);
}

export function refuse(reason: ProofProblem): Refused {
  return { ok: false, reason };
}
