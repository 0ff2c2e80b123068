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
