import { constants, createHash, createPublicKey, getCurves, getHashes, type KeyObject, verify } from 'node:crypto';
import type { HashAlgorithm, NamedCurve, PublicKey, SignatureOutcome, SignatureScheme } from './algorithms.js';
import { derValue } from './der.js';
import { concatBytes } from './encoding.js';
import { hasSmallOrder } from './small-order.js';

/** The names by which OpenSSL lists the curves. Its names of hash algorithms are ours. */
const LISTED_CURVES: Readonly<Record<NamedCurve, string>> = {
  'P-224': 'secp224r1',
  'P-256': 'prime256v1',
  'P-384': 'secp384r1',
  'P-521': 'secp521r1',
  brainpoolP256r1: 'brainpoolP256r1',
  brainpoolP384r1: 'brainpoolP384r1',
  brainpoolP512r1: 'brainpoolP512r1',
};

/**
 * Hashes that OpenSSL reads from the parameters of an RSA-PSS key (providers/common/der). Node.js has no option for a
 * separate mask hash, so this is the only way to state it.
 */
const IN_PSS_PARAMETERS: ReadonlySet<HashAlgorithm> = new Set([
  'sha1',
  'sha224',
  'sha256',
  'sha384',
  'sha512',
  'sha512-256',
]);

/** The digest of `bytes`. */
export function hashBytes(algorithm: HashAlgorithm, bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash(algorithm).update(bytes).digest());
}

type PssScheme = Extract<SignatureScheme, { kind: 'rsa-pss' }>;

interface Runtime {
  readonly hashes: readonly string[];
  readonly curves: readonly string[];
}

/**
 * Verifies one signature. The function is asynchronous, because its replacement in browsers may be.
 *
 * @param signature the signature; for ECDSA, the DER of ECDSA-Sig-Value (RFC 5480), as CMS and X.509 carry it
 * @param runtime what Node.js lists
 * @returns never throws: for a supported kind, bytes that do not form a key or a signature are
 *   `invalid`
 */
export async function verifySignature(
  scheme: SignatureScheme,
  key: PublicKey,
  data: Uint8Array,
  signature: Uint8Array,
  runtime: Runtime = { hashes: getHashes(), curves: getCurves() },
): Promise<SignatureOutcome> {
  // Decided first, because what Node.js throws for a key that it cannot import differs between versions.
  if (!canVerify(scheme, key, runtime)) return 'unsupported';
  try {
    return verifyWith(scheme, key, data, signature) ? 'valid' : 'invalid';
  } catch {
    return 'invalid';
  }
}

function canVerify(scheme: SignatureScheme, key: PublicKey, { hashes, curves }: Runtime): boolean {
  if (key.type === 'ec' && !curves.includes(LISTED_CURVES[key.curve])) return false;
  if (!('hash' in scheme)) return true;
  if (scheme.kind !== 'rsa-pss' || scheme.maskHash === scheme.hash) return hashes.includes(scheme.hash);
  return [scheme.hash, scheme.maskHash].every((hash) => IN_PSS_PARAMETERS.has(hash) && hashes.includes(hash));
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
      return verifyPss(scheme, importPss(scheme, key.pkcs1), data, signature);
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
 * Verifies RSASSA-PSS. A signature must have as many octets as the modulus (RFC 8017 §8.1.2); OpenSSL also accepts one
 * without its leading zeros, which other verifiers refuse.
 */
function verifyPss({ hash, saltLength }: PssScheme, key: KeyObject, data: Uint8Array, signature: Uint8Array): boolean {
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
 * Imports an RSA key for a signature whose mask hash differs from the message's. The key is restricted to the
 * parameters of the signature, because Node.js obeys those in the key's AlgorithmIdentifier.
 */
function importPss({ hash, maskHash, identifier }: PssScheme, pkcs1: Uint8Array): KeyObject {
  if (maskHash === hash) return importPkcs1(pkcs1);
  const keyBits = derValue(0x03, concatBytes(new Uint8Array([0]), pkcs1));
  return importSpki(derValue(0x30, concatBytes(identifier, keyBits)));
}
