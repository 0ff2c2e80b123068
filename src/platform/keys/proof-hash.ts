import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Returns whether the proof hash (hex HMAC-SHA-256) belongs to exactly these bytes.
 * @param key 32 bytes
 */
export function isProofHashOf(recordText: string, proofHash: string, key: Uint8Array): boolean {
  const expected = createHmac('sha256', key).update(recordText, 'utf8').digest();
  return /^[0-9a-f]{64}$/.test(proofHash) && timingSafeEqual(expected, Buffer.from(proofHash, 'hex'));
}
