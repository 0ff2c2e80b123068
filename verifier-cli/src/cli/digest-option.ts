import type { HashAlgorithm } from '../../../schemas/crypto/algorithms.js';
import { fromHex } from '../../../schemas/crypto/encoding.js';
import { UsageError } from './usage-error.js';

/** Bytes of a digest by hash. */
const DIGEST_BYTES: Readonly<Record<HashAlgorithm, number>> = {
  md5: 16,
  sha1: 20,
  sha224: 28,
  sha256: 32,
  sha384: 48,
  sha512: 64,
  'sha512-256': 32,
  'sha3-224': 28,
  'sha3-256': 32,
  'sha3-384': 48,
  'sha3-512': 64,
};

/**
 * A digest given as `sha256:<hex>`; `SHA-256` and the like name the same hash.
 * @throws UsageError
 */
export function parseDigest(text: string): { readonly algorithm: HashAlgorithm; readonly digest: Uint8Array } {
  const [name = '', hex = '', ...rest] = text.split(':');
  const plain = name.toLowerCase().replace(/^sha-(?=\d{1,3}(?:$|-))/, 'sha');
  const [algorithm, bytes] = Object.entries(DIGEST_BYTES).find(([known]) => known === plain) ?? [];
  const digest = fromHex(hex.toLowerCase());
  if (algorithm === undefined || !isHash(algorithm) || digest === null || rest.length > 0 || digest.length !== bytes) {
    const names = Object.keys(DIGEST_BYTES).join(', ');
    throw new UsageError(
      `“${text}” is not a digest: write it as sha256:<hex> with all digits; supported hashes: ${names}`,
    );
  }
  return { algorithm, digest };
}

function isHash(name: string): name is HashAlgorithm {
  return name in DIGEST_BYTES;
}
