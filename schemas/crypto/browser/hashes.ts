import { md5, sha1 } from '@noble/hashes/legacy.js';
import { sha224, sha256, sha384, sha512, sha512_256 } from '@noble/hashes/sha2.js';
import { sha3_224, sha3_256, sha3_384, sha3_512 } from '@noble/hashes/sha3.js';
import type { HashAlgorithm } from '../algorithms.js';

interface Hash {
  (bytes: Uint8Array): Uint8Array;
  /** Octets of a digest. */
  readonly outputLen: number;
  create(): { update(bytes: Uint8Array): unknown; digest(): Uint8Array };
}

/** Hash functions in JavaScript, because WebCrypto lacks SHA-3 and SHA-224 and cannot hash incrementally. */
export const HASHES: Readonly<Record<HashAlgorithm, Hash>> = {
  md5,
  sha1,
  sha224,
  sha256,
  sha384,
  sha512,
  'sha512-256': sha512_256,
  'sha3-224': sha3_224,
  'sha3-256': sha3_256,
  'sha3-384': sha3_384,
  'sha3-512': sha3_512,
};
