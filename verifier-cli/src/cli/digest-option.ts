import { HASH_BYTES, type HashAlgorithm } from '../../../schemas/crypto/algorithms.js';
import { fromHex } from '../../../schemas/crypto/encoding.js';
import { UsageError } from './usage-error.js';

/**
 * A digest given as `sha256:<hex>`; `SHA-256` and the like name the same hash.
 * @throws UsageError
 */
export function parseDigest(text: string): { readonly algorithm: HashAlgorithm; readonly digest: Uint8Array } {
  const [name = '', hex = '', ...rest] = text.split(':');
  const plain = name.toLowerCase().replace(/^sha-(?=\d{1,3}(?:$|-))/, 'sha');
  const [algorithm, bytes] = Object.entries(HASH_BYTES).find(([known]) => known === plain) ?? [];
  const digest = fromHex(hex.toLowerCase());
  if (algorithm === undefined || !isHash(algorithm) || digest === null || rest.length > 0 || digest.length !== bytes) {
    const names = Object.keys(HASH_BYTES).join(', ');
    throw new UsageError(
      `“${text}” is not a digest: write it as sha256:<hex> with all digits; supported hashes: ${names}`,
    );
  }
  return { algorithm, digest };
}

function isHash(name: string): name is HashAlgorithm {
  return name in HASH_BYTES;
}
