/**
 * Hash algorithms that certificates and time stamp tokens name, with the octets of a digest. A known algorithm is not
 * necessarily secure.
 */
export const HASH_BYTES = {
  md5: 16,
  sha1: 20,
  sha224: 28,
  sha256: 32,
  sha384: 48,
  sha512: 64,
  'sha512-256': 32,
  'sha3-224': 28,
  'sha3-256': 32,
  'sha3-384': 48,
  'sha3-512': 64,
} as const;
export type HashAlgorithm = keyof typeof HASH_BYTES;

/** Hash algorithms for the imprints of time stamps. */
export const STAMP_HASHES = ['sha256', 'sha384', 'sha512'] as const satisfies readonly HashAlgorithm[];

/** Lengths of ML-DSA-44 (FIPS 204 table 2), in bytes. */
export const ML_DSA_44 = { publicKeyBytes: 1312, signatureBytes: 2420, seedBytes: 32 } as const;

/** How a signature was made. `saltLength` is in octets (RFC 8017 §8.1). */
export type SignatureScheme =
  | { readonly kind: 'rsa-pkcs1'; readonly hash: HashAlgorithm }
  | {
      readonly kind: 'rsa-pss';
      readonly hash: HashAlgorithm;
      readonly maskHash: HashAlgorithm;
      readonly saltLength: number;
      /** DER of the AlgorithmIdentifier that says all this (RFC 4055 §3.1). */
      readonly identifier: Uint8Array;
    }
  | { readonly kind: 'ecdsa'; readonly hash: HashAlgorithm }
  | { readonly kind: 'ed25519' }
  | { readonly kind: 'ed448' };

/** Curves on which signatures are verified. Explicit parameters are not supported (CVE-2020-0601). */
export type NamedCurve =
  | 'P-224'
  | 'P-256'
  | 'P-384'
  | 'P-521'
  | 'brainpoolP256r1'
  | 'brainpoolP384r1'
  | 'brainpoolP512r1';

/**
 * A public key as raw material, so that each implementation of the port can import it in its own
 * way.
 */
export type PublicKey =
  | {
      readonly type: 'rsa' /** DER of RSAPublicKey (RFC 8017 A.1.1). */;
      readonly pkcs1: Uint8Array;
      readonly bits: number;
    }
  | {
      readonly type: 'ec';
      readonly curve: NamedCurve;
      /** DER of SubjectPublicKeyInfo. */ readonly spki: Uint8Array;
      readonly bits: number;
    }
  | {
      readonly type: 'ed25519' | 'ed448' /** DER of SubjectPublicKeyInfo. */;
      readonly spki: Uint8Array;
      readonly bits: number;
    };

/** `unsupported`: this implementation cannot tell. `invalid` includes keys whose kind does not match the scheme. */
export type SignatureOutcome = 'valid' | 'invalid' | 'unsupported';
