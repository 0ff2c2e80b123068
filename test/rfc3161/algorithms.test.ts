import { describe, expect, it } from 'vitest';
import { failures, makeAuthority, verifyMade } from './support/authority.js';
import { bits, nul, oid, sequence, tlv } from './support/der.js';
import { ecdsaSigner, ed25519Signer, pssSigner, pssSignerFor, rsaSigner, type Signer } from './support/keys.js';

const signers: [string, () => Signer][] = [
  ['RSA PKCS#1 v1.5 with SHA-256', () => rsaSigner('sha256')],
  ['RSA PKCS#1 v1.5 with SHA-512', () => rsaSigner('sha512')],
  ['RSA PKCS#1 v1.5 with SHA3-256', () => rsaSigner('sha3-256')],
  ['RSA-PSS with SHA-256', () => pssSigner('sha256')],
  ['RSA-PSS with SHA-512 and a salt of 64', () => pssSigner('sha512', 'sha512', 64)],
  ['RSA-PSS with a key for PSS alone', () => pssSigner('sha256', 'sha256', 32, true)],
  ['ECDSA P-256 with SHA-256', () => ecdsaSigner('P-256', 'sha256')],
  ['ECDSA P-384 with SHA-384', () => ecdsaSigner('P-384', 'sha384')],
  ['ECDSA P-521 with SHA-512', () => ecdsaSigner('P-521', 'sha512')],
  ['ECDSA P-256 with SHA3-256', () => ecdsaSigner('P-256', 'sha3-256')],
  ['ECDSA P-384 with SHA3-384', () => ecdsaSigner('P-384', 'sha3-384')],
  ['Ed25519', () => ed25519Signer()],
];

describe('signature algorithms', () => {
  it.each(signers)('%s passes, and fails over another digest', async (_name, makeSigner) => {
    const authority = makeAuthority(makeSigner());
    const good = await verifyMade(authority, {});
    expect(failures(good)).toEqual({});
    expect(good.outcome).toBe('pass');
    const other = await verifyMade(authority, { wrongMessageDigest: true });
    expect(failures(other)).toEqual({ 'tst.signed-attributes': 'fail' });
  });

  it('takes an RSA signature whose algorithm names only the key', async () => {
    const { algorithm: rsaEncryption } = rsaIdentifier();
    const authority = makeAuthority(rsaSigner('sha256'));
    expect(failures(await verifyMade(authority, { signatureAlgorithm: rsaEncryption }))).toEqual({});
  });

  it('refuses a signature algorithm that contradicts the key', async () => {
    const authority = makeAuthority(rsaSigner('sha256'));
    const { algorithm } = ecdsaSigner('P-256', 'sha256');
    expect(failures(await verifyMade(authority, { signatureAlgorithm: algorithm }))).toMatchObject({
      'tst.signature': 'fail',
    });
  });

  it('holds an RSA-PSS signature to the parameters that its key is certified for', async () => {
    const outcomeFor = async (signer: Signer) => failures(await verifyMade(makeAuthority(signer), {}));
    const signer = pssSigner('sha256', 'sha256', 32);
    expect(await outcomeFor(pssSignerFor(signer, 'sha256', 32))).toEqual({});
    expect(await outcomeFor(pssSignerFor(signer, 'sha256', 20))).toEqual({});
    for (const other of [
      pssSignerFor(signer, 'sha256', 33),
      pssSignerFor(signer, 'sha512', 32),
      pssSignerFor(pssSigner('sha256', 'sha512', 32), 'sha256', 32),
      pssSignerFor(rsaSigner('sha256'), 'sha256', 32),
    ])
      expect(await outcomeFor(other)).toMatchObject({ 'tst.signature': 'fail' });
  });

  it('does not verify with RSA keys that make a signature cost seconds', async () => {
    const large = (modulus: number, exponent: Uint8Array) => {
      const octets = new Uint8Array(modulus).fill(0xff);
      const pkcs1 = sequence(tlv(2, new Uint8Array([0]), octets), tlv(2, exponent));
      return sequence(sequence(oid('1.2.840.113549.1.1.1'), nul()), bits(pkcs1));
    };
    for (const spki of [
      large(2049, new Uint8Array([1, 0, 1])),
      large(256, new Uint8Array([0x7f, 255, 255, 255, 255, 255])),
    ])
      expect(failures(await verifyMade(makeAuthority({ ...rsaSigner('sha256'), spki }), {}))).toMatchObject({
        'tst.signature': 'indeterminate',
      });
  });

  it('refuses a signature whose hash is not the digest algorithm', async () => {
    const authority = makeAuthority(rsaSigner('sha256'));
    expect(failures(await verifyMade(authority, { digestHash: 'sha512' }))).toMatchObject({ 'tst.signature': 'fail' });
  });

  it.each(['sha1', 'md5'] as const)('is never sure of an imprint by %s', async (imprintHash) => {
    const authority = makeAuthority();
    const report = await verifyMade(authority, { imprintHash });
    expect(failures(report)).toEqual({ 'tst.imprint': 'indeterminate' });
    const other = await verifyMade(authority, { imprintHash }, { stamped: { data: new Uint8Array(1) } });
    expect(failures(other)).toEqual({ 'tst.imprint': 'fail' });
  });

  it.each(['sha384', 'sha512', 'sha3-256', 'sha3-512'] as const)('takes an imprint by %s', async (imprintHash) => {
    expect(failures(await verifyMade(makeAuthority(), { imprintHash }))).toEqual({});
  });

  it.each([
    ['a signature by SHA-1', () => rsaSigner('sha1')],
    ['a signature by MD5', () => rsaSigner('md5')],
    ['a key of RSA-1024', () => rsaSigner('sha256', 1024)],
  ])('is never sure of %s', async (_name, makeSigner) => {
    expect(failures(await verifyMade(makeAuthority(makeSigner()), {}))).toEqual({ 'tst.algorithms': 'indeterminate' });
  });

  it('holds RSA-2048 to be sound until 2031 only', async () => {
    const authority = makeAuthority(rsaSigner('sha256'));
    expect((await verifyMade(authority, {}, { at: new Date('2030-12-31T23:59:59Z') })).outcome).toBe('pass');
    const later = await verifyMade(authority, {}, { at: new Date('2031-01-01T00:00:00Z') });
    expect(failures(later)).toEqual({ 'tst.algorithms': 'indeterminate' });
    expect(later.soundUntil).toEqual({
      date: new Date('2031-01-01T00:00:00Z'),
      reason: 'RSA-2048 is not considered sound after that date',
      cause: { kind: 'algorithm', name: 'RSA-2048' },
    });
  });
});

function rsaIdentifier() {
  return { algorithm: new Uint8Array([0x30, 0x0d, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0]) };
}
