import { ml_dsa44 } from '@noble/post-quantum/ml-dsa.js';
import { ML_DSA_44 } from './algorithms.js';

/**
 * Returns whether an ML-DSA-44 signature is valid (FIPS 204 algorithm 3, with an empty context). Returns false for keys
 * or signatures of the wrong length as well, and never throws.
 */
export function verifyMlDsa44(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== ML_DSA_44.publicKeyBytes || signature.length !== ML_DSA_44.signatureBytes) return false;
  try {
    return ml_dsa44.verify(signature, message, publicKey);
  } catch {
    return false;
  }
}

/** A private key of ML-DSA-44. */
export interface MlDsa44Key {
  /** 1312 bytes. */
  readonly publicKey: Uint8Array;
  /**
   * Signs deterministically (FIPS 204 §3.4), so that each message has exactly one signature.
   * @returns 2420 bytes
   */
  sign(message: Uint8Array): Uint8Array;
}

/** The key of a seed (FIPS 204 algorithm 6). @param seed 32 bytes */
export function mlDsa44Key(seed: Uint8Array): MlDsa44Key {
  const { publicKey, secretKey } = ml_dsa44.keygen(seed);
  return { publicKey, sign: (message) => ml_dsa44.sign(message, secretKey, { extraEntropy: false }) };
}
