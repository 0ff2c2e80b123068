import { createHmac, timingSafeEqual } from 'node:crypto';

/** Whether the proof hash (hex HMAC-SHA-256) is that of these very bytes. @param key 32 bytes */
export function isProofHashOf(recordText: string, proofHash: string, key: Uint8Array): boolean {
  const expected = createHmac('sha256', key).update(recordText, 'utf8').digest();
  return /^[0-9a-f]{64}$/.test(proofHash) && timingSafeEqual(expected, Buffer.from(proofHash, 'hex'));
}
