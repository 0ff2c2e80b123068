import { timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from './hmac.js';

/**
 * Returns whether the proof hash (hex HMAC-SHA-256) belongs to exactly these bytes.
 * @param key 32 bytes
 */
export function isProofHashOf(recordText: string, proofHash: string, key: Uint8Array): boolean {
  return (
    /^[0-9a-f]{64}$/.test(proofHash) && timingSafeEqual(hmacSha256(key, recordText), Buffer.from(proofHash, 'hex'))
  );
}

/**
 * The key of the proof hashes of test records. Nobody who can write to the database alone can make a
 * record of the site out of a test record: its proof hash is not one under the tenant's key.
 * @param key the tenant's proof key, 32 bytes
 */
export function testProofKey(key: Uint8Array): Uint8Array {
  return hmacSha256(key, 'consent-ledger test records');
}
