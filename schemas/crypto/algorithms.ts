/**
 * Hash algorithms that certificates and time stamp tokens name. A known algorithm is not
 * necessarily sound.
 */
export type HashAlgorithm =
  | 'md5'
  | 'sha1'
  | 'sha224'
  | 'sha256'
  | 'sha384'
  | 'sha512'
  | 'sha512-256'
  | 'sha3-224'
  | 'sha3-256'
  | 'sha3-384'
  | 'sha3-512';

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

/** Curves that a signature is verified on. Explicit parameters are none of them (CVE-2020-0601). */
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

/**
 * `unsupported`: this implementation cannot say; `invalid` covers a key of another kind than the
 * scheme's.
 */
export type SignatureOutcome = 'valid' | 'invalid' | 'unsupported';
