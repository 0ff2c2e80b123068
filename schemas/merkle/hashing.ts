import { sha256 } from '../crypto/digest.js';

const LEAF_PREFIX = Uint8Array.of(0x00);
const NODE_PREFIX = Uint8Array.of(0x01);

/** The hash of a leaf: SHA-256(0x00 ‖ content) (RFC 9162 §2.1.1). */
export function leafHash(content: Uint8Array): Uint8Array {
  return sha256(LEAF_PREFIX, content);
}

/** The hash of an inner node: SHA-256(0x01 ‖ left ‖ right) (RFC 9162 §2.1.1). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(NODE_PREFIX, left, right);
}

/** The root of a tree without leaves: SHA-256 of the empty string (RFC 9162 §2.1.1). */
export function emptyRoot(): Uint8Array {
  return sha256();
}

export const HASH_LENGTH = 32;

/** Largest tree or index this project handles; beyond it JavaScript numbers stop being exact. */
export const MAX_TREE_SIZE = Number.MAX_SAFE_INTEGER;
