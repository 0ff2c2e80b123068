import { constants, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { bits, context, integer, nul, oid, sequence } from './der.js';

export const HASH_OID = {
  md5: '1.2.840.113549.2.5',
  sha1: '1.3.14.3.2.26',
  sha224: '2.16.840.1.101.3.4.2.4',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
  'sha3-256': '2.16.840.1.101.3.4.2.8',
  'sha3-384': '2.16.840.1.101.3.4.2.9',
  'sha3-512': '2.16.840.1.101.3.4.2.10',
} as const;
export type TestHash = keyof typeof HASH_OID;

/** A key pair and the way it signs. */
export interface Signer {
  readonly privateKey: KeyObject;
  /** DER of SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  readonly hash: TestHash;
  /** DER of the AlgorithmIdentifier of its signatures. */
  readonly algorithm: Uint8Array;
  sign(data: Uint8Array): Uint8Array;
}

export const hashIdentifier = (hash: TestHash) => sequence(oid(HASH_OID[hash]), nul());

const RSA: Partial<Record<TestHash, string>> = {
  md5: '1.2.840.113549.1.1.4',
  sha1: '1.2.840.113549.1.1.5',
  sha224: '1.2.840.113549.1.1.14',
  sha256: '1.2.840.113549.1.1.11',
  sha384: '1.2.840.113549.1.1.12',
  sha512: '1.2.840.113549.1.1.13',
  'sha3-256': '2.16.840.1.101.3.4.3.14',
};
const ECDSA: Partial<Record<TestHash, string>> = {
  sha1: '1.2.840.10045.4.1',
  sha256: '1.2.840.10045.4.3.2',
  sha384: '1.2.840.10045.4.3.3',
  sha512: '1.2.840.10045.4.3.4',
  'sha3-256': '2.16.840.1.101.3.4.3.10',
  'sha3-384': '2.16.840.1.101.3.4.3.11',
  'sha3-512': '2.16.840.1.101.3.4.3.12',
};

export function rsaSigner(hash: TestHash = 'sha256', modulusLength = 2048): Signer {
  return rsaSignerOf(generateKeyPairSync('rsa', { modulusLength }).privateKey, hash);
}

/** Signs by PKCS#1 v1.5: the same signature for the same bytes, each time. */
export function rsaSignerOf(privateKey: KeyObject, hash: TestHash = 'sha256'): Signer {
  return {
    privateKey,
    spki: spkiOf(createPublicKey(privateKey)),
    hash,
    algorithm: sequence(oid(RSA[hash] ?? ''), nul()),
    sign: (data) => plain(sign(hash, data, privateKey)),
  };
}

export function pssSigner(
  hash: TestHash = 'sha256',
  maskHash: TestHash = hash,
  saltLength = 32,
  pssKey = false,
): Signer {
  const { privateKey, publicKey } = pssKey
    ? generateKeyPairSync('rsa-pss', { modulusLength: 2048 })
    : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const parameters = sequence(
    context(0, hashIdentifier(hash)),
    context(1, sequence(oid('1.2.840.113549.1.1.8'), hashIdentifier(maskHash))),
    context(2, integer(saltLength)),
  );
  return {
    privateKey,
    spki: spkiOf(publicKey),
    hash,
    algorithm: sequence(oid('1.2.840.113549.1.1.10'), parameters),
    sign: (data) => plain(sign(hash, data, { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength })),
  };
}

/**
 * The same key, certified for RSA-PSS with parameters of its own, which signatures may or may not
 * obey.
 */
export function pssSignerFor(signer: Signer, hash: TestHash, saltLength: number): Signer {
  const pkcs1 = plain(createPublicKey(signer.privateKey).export({ type: 'pkcs1', format: 'der' }));
  const parameters = sequence(
    context(0, hashIdentifier(hash)),
    context(1, sequence(oid('1.2.840.113549.1.1.8'), hashIdentifier(hash))),
    context(2, integer(saltLength)),
  );
  return { ...signer, spki: sequence(sequence(oid('1.2.840.113549.1.1.10'), parameters), bits(pkcs1)) };
}

export function ecdsaSigner(namedCurve: string, hash: TestHash): Signer {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve });
  return {
    privateKey,
    spki: spkiOf(publicKey),
    hash,
    algorithm: sequence(oid(ECDSA[hash] ?? '')),
    sign: (data) => plain(sign(hash, data, { key: privateKey, dsaEncoding: 'der' })),
  };
}

/** RFC 8419: Ed25519 goes with SHA-512 as the digest algorithm. */
export function ed25519Signer(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    privateKey,
    spki: spkiOf(publicKey),
    hash: 'sha512',
    algorithm: sequence(oid('1.3.101.112')),
    sign: (data) => plain(sign(null, data, privateKey)),
  };
}

function spkiOf(publicKey: KeyObject): Uint8Array {
  return plain(publicKey.export({ type: 'spki', format: 'der' }));
}

function plain(buffer: Uint8Array): Uint8Array {
  return new Uint8Array(buffer);
}
