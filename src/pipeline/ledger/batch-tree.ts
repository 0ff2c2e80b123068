import { MerkleTree } from 'merkletreejs';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { emptyRoot } from '../../../schemas/merkle/hashing.js';

const NODE_PREFIX = Uint8Array.of(0x01);

/**
 * Computes the root of a Merkle batch: an RFC 6962 tree over leaf hashes. The library promotes an
 * odd node unchanged, which gives the same tree as a split at the largest power of two. The library
 * defines no root for zero leaves, so this function does.
 * @param leaves 32 bytes each, in log order
 * @returns 32 bytes
 */
export function batchRoot(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return emptyRoot();
  const tree = new MerkleTree(leaves.map(asBuffer), hashPair, { hashLeaves: false, sort: false, duplicateOdd: false });
  return new Uint8Array(tree.getRoot());
}

/** @param pair two concatenated child hashes */
function hashPair(pair: Uint8Array): Buffer {
  return asBuffer(sha256(NODE_PREFIX, pair));
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
