import { hkdfSync } from 'node:crypto';
import { ML_DSA_44 } from './algorithms.js';

/**
 * The seed of the ML-DSA-44 key that belongs to an Ed25519 key: HKDF-SHA-256 (RFC 5869) of its seed. So there is only
 * one secret to store, wrap and rotate. A quantum computer could compute the scalar of an Ed25519 key from the public
 * key, but not the seed, because the scalar is derived from its SHA-512 (RFC 8032 §5.1.5).
 * @param seed seed of the Ed25519 key, 32 bytes
 * @param purpose purpose of the key; keys of different purposes are unrelated
 */
export function mlDsaSeedOf(seed: Uint8Array, purpose: 'ledger' | 'witness'): Uint8Array {
  const info = `consent-ledger ML-DSA-44 ${purpose} key`;
  return new Uint8Array(hkdfSync('sha256', seed, new Uint8Array(), info, ML_DSA_44.seedBytes));
}
