// Replaces ../signature-verification.ts in a browser. It does not use WebCrypto, so that the page
// and the command line give the same verdict for every token. Measured in Chromium 156:
// `crypto.subtle` exists on a page opened from disk and on HTTPS, but not on a page served over
// plain HTTP. It refuses RSA with MD5, SHA-224, SHA-512/256 and SHA-3, takes no mask hash for PSS
// other than the message's hash, and lacks P-224, brainpool curves and Ed448.
import { ed448 } from '@noble/curves/ed448.js';
import type { HashAlgorithm, PublicKey, SignatureOutcome, SignatureScheme } from '../algorithms.js';
import { hasSmallOrder } from '../small-order.js';
import { verifyEd25519 } from './ed25519.js';
import { publicKeyOctets, verifyEcdsa } from './elliptic-curves.js';
import { HASHES } from './hashes.js';
import { verifyPkcs1, verifyPss } from './rsa.js';

/** The digest of `bytes`. */
export function hashBytes(algorithm: HashAlgorithm, bytes: Uint8Array): Uint8Array {
  return HASHES[algorithm](bytes);
}

/**
 * Verifies one signature.
 *
 * @param signature the signature; for ECDSA, the DER of ECDSA-Sig-Value (RFC 5480), as CMS and X.509 carry it
 * @returns never throws: bytes that do not form a key or a signature are `invalid`
 */
export async function verifySignature(
  scheme: SignatureScheme,
  key: PublicKey,
  data: Uint8Array,
  signature: Uint8Array,
): Promise<SignatureOutcome> {
  try {
    return (await isRight(scheme, key, data, signature)) ? 'valid' : 'invalid';
  } catch {
    return 'invalid';
  }
}

async function isRight(
  scheme: SignatureScheme,
  key: PublicKey,
  data: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  switch (scheme.kind) {
    case 'rsa-pkcs1':
      return key.type === 'rsa' && verifyPkcs1(scheme.hash, key.pkcs1, data, signature);
    case 'rsa-pss':
      return key.type === 'rsa' && verifyPss(scheme, key.pkcs1, data, signature);
    case 'ecdsa':
      return key.type === 'ec' && verifyEcdsa(key.curve, key.spki, HASHES[scheme.hash](data), signature);
    case 'ed25519': {
      const octets = key.type === 'ed25519' ? publicKeyOctets(key.spki) : null;
      return octets !== null && (await verifyEd25519(octets, data, signature));
    }
    case 'ed448': {
      const octets = key.type === 'ed448' ? publicKeyOctets(key.spki) : null;
      if (octets === null || hasSmallOrder('ed448', octets) || hasSmallOrder('ed448', signature.subarray(0, 57)))
        return false;
      return ed448.verify(signature, data, octets);
    }
  }
}
