import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToNumberLE, numberToBytesLE } from '@noble/curves/utils.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HashAlgorithm, PublicKey, SignatureScheme } from '../../schemas/crypto/algorithms.js';
import * as nodeText from '../../schemas/crypto/binary-text.js';
import * as browserText from '../../schemas/crypto/browser/binary-text.js';
import * as browserDigest from '../../schemas/crypto/browser/digest.js';
import { verifyEd25519 as browserEd25519 } from '../../schemas/crypto/browser/ed25519.js';
import { verifySignature as browserVerify, hashBytes } from '../../schemas/crypto/browser/signature-verification.js';
import * as nodeDigest from '../../schemas/crypto/digest.js';
import { verifyEd25519 } from '../../schemas/crypto/ed25519.js';
import { verifySignature } from '../../schemas/crypto/signature-verification.js';
import { parseAlgorithmIdentifier, signatureSchemeOf } from '../../schemas/rfc3161/algorithms.js';
import { readSingle } from '../../schemas/rfc3161/asn1/reader.js';
import { parseSubjectPublicKey } from '../../schemas/rfc3161/x509/public-key.js';
import { pssSigner } from '../rfc3161/support/keys.js';

const DATA = new TextEncoder().encode('what was signed');
const HASHES: readonly HashAlgorithm[] = [
  'md5',
  'sha1',
  'sha224',
  'sha256',
  'sha384',
  'sha512',
  'sha512-256',
  'sha3-224',
  'sha3-256',
  'sha3-384',
  'sha3-512',
];

function keyOf(publicKey: KeyObject | Uint8Array) {
  const spki = publicKey instanceof Uint8Array ? publicKey : publicKey.export({ type: 'spki', format: 'der' });
  const { key } = parseSubjectPublicKey(readSingle(new Uint8Array(spki)));
  if (key === undefined) throw new Error('an unknown kind of key');
  return key;
}

/**
 * Both implementations must say `valid` of the signature, and the same of the signature and the
 * data with bits flipped.
 */
async function compare(scheme: SignatureScheme, publicKey: KeyObject | Uint8Array, signature: Uint8Array) {
  const key = keyOf(publicKey);
  expect(await browserVerify(scheme, key, DATA, signature)).toBe('valid');
  expect(await browserVerify(scheme, key, new Uint8Array([...DATA, 0]), signature)).toBe('invalid');
  for (let at = 0; at < signature.length; at += Math.max(1, Math.floor(signature.length / 25))) {
    const altered = signature.slice();
    altered[at] = (altered[at] ?? 0) ^ (1 << (at % 8));
    expect(await browserVerify(scheme, key, DATA, altered), `octet ${at}`).toBe(
      await verifySignature(scheme, key, DATA, altered),
    );
  }
  for (const other of [new Uint8Array(), signature.slice(1), new Uint8Array([0, ...signature])]) {
    expect(await browserVerify(scheme, key, DATA, other)).toBe(await verifySignature(scheme, key, DATA, other));
  }
}

describe('the browser cryptography agrees with that of Node', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  test.each(HASHES)('RSA PKCS#1 v1.5 and digests with %s', async (hash) => {
    await compare({ kind: 'rsa-pkcs1', hash }, rsa.publicKey, new Uint8Array(sign(hash, DATA, rsa.privateKey)));

    expect(nodeText.toHex(hashBytes(hash, DATA))).toBe(createHash(hash).update(DATA).digest('hex'));
  });

  test.each([
    ['sha256', 'sha256', 32],
    ['sha384', 'sha384', 48],
    ['sha512', 'sha512', 64],
    ['sha3-256', 'sha3-256', 0],
    ['sha1', 'sha1', 20],
  ] as const)('RSA-PSS with %s, mask by %s, %i octets of salt', async (hash, maskHash, saltLength) => {
    const signer = pssSigner(hash, maskHash, saltLength);
    const scheme = signatureSchemeOf(parseAlgorithmIdentifier(readSingle(signer.algorithm), 'test'), undefined, 'test');
    if (scheme?.kind !== 'rsa-pss') throw new Error('not PSS');
    const signature = signer.sign(DATA);
    await compare(scheme, signer.spki, signature);
    const otherSalt = { ...scheme, saltLength: saltLength + 1 };
    expect(await browserVerify(otherSalt, keyOf(signer.spki), DATA, signature)).toBe('invalid');
  });

  test('RSA-PSS without the leading zero of the signature, which OpenSSL accepts', async () => {
    const signer = pssSigner('sha256', 'sha256', 32);
    const scheme = signatureSchemeOf(parseAlgorithmIdentifier(readSingle(signer.algorithm), 'test'), undefined, 'test');
    if (scheme?.kind !== 'rsa-pss') throw new Error('not PSS');
    let signature = signer.sign(DATA);
    while (signature[0] !== 0) signature = signer.sign(DATA);
    for (const verifier of [verifySignature, browserVerify]) {
      expect(await verifier(scheme, keyOf(signer.spki), DATA, signature)).toBe('valid');
      expect(await verifier(scheme, keyOf(signer.spki), DATA, signature.slice(1))).toBe('invalid');
    }
  });

  test.each([1024, 1031, 2047, 3072, 4096])('RSA of %i bits', async (modulusLength) => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength });
    await compare({ kind: 'rsa-pkcs1', hash: 'sha256' }, publicKey, new Uint8Array(sign('sha256', DATA, privateKey)));
  });

  test.each(['P-224', 'P-256', 'P-384', 'P-521', 'brainpoolP256r1', 'brainpoolP384r1', 'brainpoolP512r1'])(
    'ECDSA on %s',
    async (namedCurve) => {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve });
      for (const hash of ['sha256', 'sha512', 'sha3-384'] as const)
        await compare({ kind: 'ecdsa', hash }, publicKey, new Uint8Array(sign(hash, DATA, privateKey)));
    },
  );

  test('Ed25519 and Ed448', async () => {
    const ed25519 = generateKeyPairSync('ed25519');
    await compare({ kind: 'ed25519' }, ed25519.publicKey, new Uint8Array(sign(null, DATA, ed25519.privateKey)));
    const ed448 = generateKeyPairSync('ed448');
    await compare({ kind: 'ed448' }, ed448.publicKey, new Uint8Array(sign(null, DATA, ed448.privateKey)));
  });

  test('Ed25519 with keys and commitments of small order, or beyond the order', async () => {
    const points = [
      '0100000000000000000000000000000000000000000000000000000000000000',
      '0100000000000000000000000000000000000000000000000000000000000080',
      'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
      '0000000000000000000000000000000000000000000000000000000000000000',
      '0000000000000000000000000000000000000000000000000000000000000080',
      '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
      'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
      'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
      'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    ].map((hex) => nodeText.fromHex(hex) ?? new Uint8Array());
    const scalars = [
      new Uint8Array(32),
      nodeText.fromHex('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010') ?? new Uint8Array(),
    ];
    for (const key of points)
      for (const commitment of points)
        for (const scalar of scalars) {
          const signature = new Uint8Array([...commitment, ...scalar]);
          for (const message of [DATA, DATA.subarray(1), DATA.subarray(2)])
            for (const verifier of [verifyEd25519, browserEd25519])
              expect(await verifier(key, message, signature)).toBe(false);
        }
  });

  test('Ed25519 with a key that has a part of small order: the equation is the one without cofactor', async () => {
    const { Point } = ed25519;
    const order = Point.Fn.ORDER;
    const littleEndian = (value: bigint): Uint8Array => numberToBytesLE(value, 32);
    const secret = 12345678901234567890n;
    const nonce = 98765432109876543210n;
    const orderEight = Point.fromHex('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05');
    const key = Point.BASE.multiply(secret).add(orderEight).toBytes();
    const commitment = Point.BASE.multiply(nonce).toBytes();
    const outcomes = new Map<boolean, number>();
    for (let text = 0; text < 64; text += 1) {
      const message = new Uint8Array([text]);
      const digest = createHash('sha512').update(commitment).update(key).update(message).digest();
      const challenge = bytesToNumberLE(new Uint8Array(digest)) % order;
      const signature = new Uint8Array([...commitment, ...littleEndian((nonce + challenge * secret) % order)]);
      const expected = challenge % 8n === 0n;
      for (const verifier of [verifyEd25519, browserEd25519])
        expect(await verifier(key, message, signature)).toBe(expected);
      outcomes.set(expected, (outcomes.get(expected) ?? 0) + 1);
    }
    expect([...outcomes.keys()].toSorted()).toEqual([false, true]);
  });

  test('Ed448 with keys and commitments of small order', async () => {
    const { publicKey } = generateKeyPairSync('ed448');
    const honest = keyOf(publicKey);
    if (honest.type !== 'ed448') throw new Error('not Ed448');
    const prime = 2n ** 448n - 2n ** 224n - 1n;
    for (const y of [0n, 1n, prime - 1n, prime, prime + 1n])
      for (const sign of [0, 0x80]) {
        const point = numberToBytesLE(y, 57);
        point[56] = sign;
        const key: PublicKey = { ...honest, spki: new Uint8Array([...honest.spki.slice(0, -57), ...point]) };
        for (const verifier of [verifySignature, browserVerify])
          for (let text = 0; text < 8; text += 1) {
            const signature = new Uint8Array([...point, ...new Uint8Array(57)]);
            expect(await verifier({ kind: 'ed448' }, key, new Uint8Array([text]), signature)).toBe('invalid');
          }
      }
  });

  test('a key of another kind than the scheme’s is refused', async () => {
    const key = keyOf(createPublicKey(generateKeyPairSync('ed25519').privateKey));
    expect(await browserVerify({ kind: 'ecdsa', hash: 'sha256' }, key, DATA, new Uint8Array(70))).toBe('invalid');
  });
});

test('hex, base64 and base64url are read and written alike, wrong ones included', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(browserText.toHex(bytes)).toBe(nodeText.toHex(bytes));
      expect(browserText.toBase64(bytes)).toBe(nodeText.toBase64(bytes));
      expect(browserText.toBase64url(bytes)).toBe(nodeText.toBase64url(bytes));
    }),
  );
  const text = fc.string({ unit: fc.constantFrom(...'ABab01-_+/=gŁŗ\n'), maxLength: 12 });
  fc.assert(
    fc.property(text, (value) => {
      expect(browserText.fromHex(value)).toEqual(nodeText.fromHex(value));
      expect(browserText.fromBase64(value)).toEqual(nodeText.fromBase64(value));
      expect(browserText.fromBase64url(value)).toEqual(nodeText.fromBase64url(value));
      const isText = browserText.textFromBase64url(value) !== null;
      expect(nodeText.textFromBase64url(value) !== null).toBe(isText);
    }),
    { numRuns: 3000 },
  );
});

test('SHA-256 of texts and of pieces', () => {
  expect(browserDigest.sha256Hex('şarkı')).toBe(nodeDigest.sha256Hex('şarkı'));
  expect(browserDigest.sha256Base64url('abc')).toBe(nodeDigest.sha256Base64url('abc'));
  expect(browserDigest.sha256(DATA, DATA)).toEqual(nodeDigest.sha256(DATA, DATA));
  const stream = browserDigest.sha256Stream();
  stream.update(DATA);
  stream.update(DATA);
  expect(stream.digest()).toEqual(nodeDigest.sha256(DATA, DATA));
});
