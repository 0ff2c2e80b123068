import { type ECDSA, ecdsa, weierstrass } from '@noble/curves/abstract/weierstrass.js';
import { brainpoolP256r1, brainpoolP384r1, brainpoolP512r1 } from '@noble/curves/misc.js';
import { p256, p384, p521 } from '@noble/curves/nist.js';
import { sha224 } from '@noble/hashes/sha2.js';
import type { NamedCurve } from '../algorithms.js';
import { derItems } from './der-items.js';

/** P-224 (NIST SP 800-186 §3.2.1.2). */
const p224 = ecdsa(
  weierstrass({
    p: 0xffffffffffffffffffffffffffffffff000000000000000000000001n,
    n: 0xffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3dn,
    h: 1n,
    a: 0xfffffffffffffffffffffffffffffffefffffffffffffffffffffffen,
    b: 0xb4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4n,
    Gx: 0xb70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21n,
    Gy: 0xbd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34n,
  }),
  sha224,
);

const CURVES: Readonly<Record<NamedCurve, ECDSA>> = {
  'P-224': p224,
  'P-256': p256,
  'P-384': p384,
  'P-521': p521,
  brainpoolP256r1,
  brainpoolP384r1,
  brainpoolP512r1,
};

/**
 * ECDSA (FIPS 186-5 §6.4.2).
 * @param spki DER of SubjectPublicKeyInfo
 * @param signature DER of ECDSA-Sig-Value
 */
export function verifyEcdsa(curve: NamedCurve, spki: Uint8Array, digest: Uint8Array, signature: Uint8Array): boolean {
  const point = publicKeyOctets(spki);
  if (point === null) return false;
  return CURVES[curve].verify(signature, digest, point, { prehash: false, lowS: false, format: 'der' });
}

/** The octets of the BIT STRING of a SubjectPublicKeyInfo (RFC 5280 §4.1). */
export function publicKeyOctets(spki: Uint8Array): Uint8Array | null {
  const [sequence] = derItems(spki) ?? [];
  const [, bits] = sequence === undefined ? [] : (derItems(sequence.content) ?? []);
  return bits?.tag === 0x03 && bits.content[0] === 0 ? bits.content.subarray(1) : null;
}
