import { createPublicKey, verify } from 'node:crypto';
import { toBase64url } from './encoding.js';
import { hasSmallOrder } from './small-order.js';

/**
 * Returns whether an Ed25519 signature is valid (RFC 8032), with a key and a commitment that are not of small order.
 * @param publicKey 32 bytes
 * @param signature 64 bytes
 * @returns false for keys or signatures of the wrong length or form as well; never throws
 */
export async function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  if (hasSmallOrder('ed25519', publicKey) || hasSmallOrder('ed25519', signature.subarray(0, 32))) return false;
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: toBase64url(publicKey) }, format: 'jwk' });
    return verify(null, message, key, signature);
  } catch {
    return false;
  }
}
