import { constants, createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { HashAlgorithm, PublicKey, SignatureOutcome, SignatureScheme } from './algorithms.js';
import { derValue } from './der.js';
import { concatBytes } from './encoding.js';
import { hasSmallOrder } from './small-order.js';

/** The digest of `bytes`. */
export function hashBytes(algorithm: HashAlgorithm, bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash(algorithm).update(bytes).digest());
}

/**
 * Verifies one signature. Asynchronous, because the browser replacement of this file may be.
 *
 * @param signature for ECDSA the DER of ECDSA-Sig-Value (RFC 5480), as CMS and X.509 carry it
 * @returns never throws: bytes that do not form a key or a signature are `invalid`
 */
export async function verifySignature(
  scheme: SignatureScheme,
  key: PublicKey,
  data: Uint8Array,
  signature: Uint8Array,
): Promise<SignatureOutcome> {
  try {
    return verifyWith(scheme, key, data, signature) ? 'valid' : 'invalid';
  } catch (error) {
    return isUnsupported(error) ? 'unsupported' : 'invalid';
  }
}

function verifyWith(scheme: SignatureScheme, key: PublicKey, data: Uint8Array, signature: Uint8Array): boolean {
  switch (scheme.kind) {
    case 'rsa-pkcs1':
      if (key.type !== 'rsa') return false;
      return verify(
        scheme.hash,
        data,
        { key: importPkcs1(key.pkcs1), padding: constants.RSA_PKCS1_PADDING },
        signature,
      );
    case 'rsa-pss':
      if (key.type !== 'rsa') return false;
      return verifyPss(scheme, importPss(scheme.identifier, key.pkcs1), data, signature);
    case 'ecdsa':
      if (key.type !== 'ec') return false;
      return verify(scheme.hash, data, { key: importSpki(key.spki), dsaEncoding: 'der' }, signature);
    case 'ed25519':
    case 'ed448':
      if (key.type !== scheme.kind || isOfSmallOrder(scheme.kind, key.spki, signature)) return false;
      return verify(null, data, importSpki(key.spki), signature);
  }
}

/** Whether key or commitment is of small order. The point ends the key's DER (RFC 8410 §4). */
function isOfSmallOrder(kind: 'ed25519' | 'ed448', spki: Uint8Array, signature: Uint8Array): boolean {
  const length = kind === 'ed25519' ? 32 : 57;
  return hasSmallOrder(kind, spki.subarray(-length)) || hasSmallOrder(kind, signature.subarray(0, length));
}

/**
 * A signature has as many octets as the modulus (RFC 8017 §8.1.2). OpenSSL also accepts one without its
 * leading zeros, which other verifiers refuse.
 */
function verifyPss(
  { hash, saltLength }: Extract<SignatureScheme, { kind: 'rsa-pss' }>,
  key: KeyObject,
  data: Uint8Array,
  signature: Uint8Array,
): boolean {
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (signature.length !== Math.ceil(bits / 8)) return false;
  return verify(hash, data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }, signature);
}

function importPkcs1(pkcs1: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.from(pkcs1), format: 'der', type: 'pkcs1' });
}

function importSpki(spki: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
}

/**
 * The RSA key restricted to the parameters of the signature. Node takes no mask hash of its own for
 * PSS, but obeys the one in the key's AlgorithmIdentifier.
 */
function importPss(identifier: Uint8Array, pkcs1: Uint8Array): KeyObject {
  const keyBits = derValue(0x03, concatBytes(new Uint8Array([0]), pkcs1));
  return importSpki(derValue(0x30, concatBytes(identifier, keyBits)));
}

function isUnsupported(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : undefined;
  return (
    code === 'ERR_CRYPTO_INVALID_DIGEST' ||
    code === 'ERR_OSSL_EVP_UNSUPPORTED' ||
    code === 'ERR_OSSL_UNSUPPORTED' ||
    code === 'ERR_OSSL_EC_UNKNOWN_GROUP'
  );
}
