// Replaces ../ed25519.ts in a browser.
import { ed25519 } from '@noble/curves/ed25519.js';
import { concatBytes, equalBytes } from '../encoding.js';
import { hasSmallOrder } from '../small-order.js';
import { HASHES } from './hashes.js';

const { Point } = ed25519;

/**
 * Returns whether an Ed25519 signature is valid (RFC 8032), with a key and a commitment that are not of small order. It
 * uses the equation without cofactor, over the exact bytes, as OpenSSL does, so that all of our programs agree even
 * about a forged key with a component of small order.
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
    const order = Point.Fn.ORDER;
    const committed = signature.subarray(0, 32);
    const s = littleEndian(signature.subarray(32));
    if (s >= order) return false;
    const k = littleEndian(HASHES.sha512(concatBytes(committed, publicKey, message))) % order;
    const key = Point.fromBytes(publicKey, true);
    const found = Point.BASE.multiplyUnsafe(s).subtract(key.multiplyUnsafe(k));
    return equalBytes(found.toBytes(), committed);
  } catch {
    return false;
  }
}

function littleEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const octet of bytes.toReversed()) value = (value << 8n) | BigInt(octet);
  return value;
}
