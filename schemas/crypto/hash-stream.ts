import { createHash } from 'node:crypto';
import type { HashAlgorithm } from './algorithms.js';

/**
 * The digest of content that comes in pieces, by any known hash.
 * @throws whatever `pieces` throws
 */
export async function hashPieces(algorithm: HashAlgorithm, pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const digest = createHash(algorithm);
  for await (const piece of pieces) digest.update(piece);
  return new Uint8Array(digest.digest());
}
