import { constants, generateKeyPairSync, getCurves, getHashes, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { HashAlgorithm, PublicKey, SignatureScheme } from '../../schemas/crypto/algorithms.js';
import { verifySignature } from '../../schemas/crypto/signature-verification.js';
import { readSingle } from '../../schemas/rfc3161/asn1/reader.js';
import { HASH_BY_OID } from '../../schemas/rfc3161/oids.js';
import { parseSubjectPublicKey } from '../../schemas/rfc3161/x509/public-key.js';
import { context, integer, nul, oid, sequence } from './support/der.js';

interface Pair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}
interface Case {
  readonly name: string;
  readonly scheme: SignatureScheme;
  readonly pair: Pair;
  /** What Node.js must list: a hash, a curve. */
  readonly needs: readonly string[];
}

const DATA = new TextEncoder().encode('signed');
const SALT = 28;
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = (namedCurve: string): Pair => generateKeyPairSync('ec', { namedCurve });
const P256 = ec('prime256v1');
const CURVES = ['secp224r1', 'secp384r1', 'secp521r1', 'brainpoolP256r1', 'brainpoolP384r1', 'brainpoolP512r1'];

const cases: Case[] = [
  ...[...HASH_BY_OID.values()].flatMap((hash): Case[] => [
    { name: `RSA PKCS#1 with ${hash}`, scheme: { kind: 'rsa-pkcs1', hash }, pair: RSA, needs: [hash] },
    { name: `RSA-PSS with ${hash}`, scheme: pssScheme(hash, hash), pair: RSA, needs: [hash] },
    { name: `ECDSA with ${hash}`, scheme: { kind: 'ecdsa', hash }, pair: P256, needs: [hash, 'prime256v1'] },
  ]),
  ...CURVES.map(
    (curve): Case => ({
      name: `ECDSA on ${curve}`,
      scheme: { kind: 'ecdsa', hash: 'sha256' },
      pair: ec(curve),
      needs: ['sha256', curve],
    }),
  ),
  { name: 'Ed25519', scheme: { kind: 'ed25519' }, pair: generateKeyPairSync('ed25519'), needs: [] },
  { name: 'Ed448', scheme: { kind: 'ed448' }, pair: generateKeyPairSync('ed448'), needs: [] },
];

it.each([
  ['sha256', 'sha1', 'invalid'],
  ['sha512-256', 'sha224', 'invalid'],
  ['sha256', 'sha3-256', 'unsupported'],
  ['md5', 'sha256', 'unsupported'],
] as const)('RSA-PSS with %s and a mask by %s is %s, since OpenSSL takes some masks alone', async (...row) => {
  const [hash, maskHash, outcome] = row;
  const signature = signed(pssScheme(hash, hash), RSA.privateKey);
  expect(await verifySignature(pssScheme(hash, maskHash), keyOf(RSA), DATA, signature)).toBe(outcome);
});

describe.each(cases)('$name', ({ scheme, pair, needs }) => {
  const key = keyOf(pair);
  const signature = signed(scheme, pair.privateKey);

  it('is valid, and invalid where data, signature or key are others', async () => {
    expect(await verifySignature(scheme, key, DATA, signature)).toBe('valid');
    expect(await verifySignature(scheme, key, DATA.subarray(1), signature)).toBe('invalid');
    for (const other of [new Uint8Array(0), signature.subarray(1), new Uint8Array(10_000).fill(0xff)])
      expect(await verifySignature(scheme, key, DATA, other)).toBe('invalid');
    for (const other of damaged(key)) expect(await verifySignature(scheme, other, DATA, signature)).toBe('invalid');
  });

  it('is unsupported where the runtime does not list what it needs, however damaged the key is', async () => {
    for (const missing of needs) {
      const runtime = { hashes: without(getHashes(), missing), curves: without(getCurves(), missing) };
      for (const some of [key, ...damaged(key)])
        expect(await verifySignature(scheme, some, DATA, signature, runtime)).toBe('unsupported');
    }
  });
});

function keyOf({ publicKey }: Pair): PublicKey {
  const { key } = parseSubjectPublicKey(readSingle(plain(publicKey.export({ type: 'spki', format: 'der' }))));
  if (key === undefined) throw new Error('an unknown kind of key');
  return key;
}

function pssScheme(hash: HashAlgorithm, maskHash: HashAlgorithm): SignatureScheme {
  const mask = sequence(oid('1.2.840.113549.1.1.8'), named(maskHash));
  const parameters = sequence(context(0, named(hash)), context(1, mask), context(2, integer(SALT)));
  const identifier = sequence(oid('1.2.840.113549.1.1.10'), parameters);
  return { kind: 'rsa-pss', hash, maskHash, saltLength: SALT, identifier };
}

function named(hash: HashAlgorithm): Uint8Array {
  const [id = ''] = [...HASH_BY_OID].find(([, name]) => name === hash) ?? [];
  return sequence(oid(id), nul());
}

/** The key with bytes that Node.js cannot import, each version for reasons of its own. */
function damaged(key: PublicKey): PublicKey[] {
  const bytes = key.type === 'rsa' ? key.pkcs1 : key.spki;
  const offCurve = bytes.slice();
  offCurve.set([(bytes.at(-1) ?? 0) ^ 1], bytes.length - 1);
  return [new Uint8Array(0), new Uint8Array([1, 2, 3]), new Uint8Array([0x30, 0]), bytes.subarray(0, -1), offCurve].map(
    (wrong) => (key.type === 'rsa' ? { ...key, pkcs1: wrong } : { ...key, spki: wrong }),
  );
}

function signed(scheme: SignatureScheme, key: KeyObject): Uint8Array {
  const hash = 'hash' in scheme ? scheme.hash : null;
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: SALT };
  return plain(sign(hash, DATA, scheme.kind === 'rsa-pss' ? { key, ...pss } : key));
}

function without(list: readonly string[], missing: string): string[] {
  return list.filter((name) => name !== missing);
}

function plain(buffer: Uint8Array): Uint8Array {
  return new Uint8Array(buffer);
}
