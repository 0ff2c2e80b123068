import { describe, expect, it } from 'vitest';
import { TIMESTAMP_CHECKS } from '../../schemas/rfc3161/report.js';
import { verifyTimestamp } from '../../schemas/rfc3161/verify.js';
import {
  AT,
  failures,
  makeAuthority,
  makeTsa,
  tsaExtensionsWithKeyIdentifier,
  verify,
  verifyMade,
} from './support/authority.js';
import {
  basicConstraints,
  extendedKeyUsage,
  extension,
  keyIdentifierOf,
  keyUsage,
  makeCertificate,
  SERVER_AUTH,
  TIME_STAMPING,
  TSA_EXTENSIONS,
} from './support/certificates.js';
import { context, implicit, integer, join, octets, oid, sequence } from './support/der.js';
import { ecdsaSigner } from './support/keys.js';
import { attribute, DATA, digest, makeResponse, makeToken, TST_INFO } from './support/tokens.js';

const authority = makeAuthority();

describe('a good token', () => {
  it('passes bare, and within a response', async () => {
    const token = makeToken(authority.tsa);
    const bare = await verify(authority, token);
    expect(bare.outcome).toBe('pass');
    expect(bare.checks.map(({ id }) => id)).toEqual([...TIMESTAMP_CHECKS]);
    expect(bare.claims).toMatchObject({ policy: '1.3.6.1.4.1.4146.2.2', serial: '4d', imprintAlgorithm: 'sha256' });
    expect(bare.chain.map(({ subject }) => subject)).toEqual(['CN=Test TSA', 'CN=Test Root']);
    expect((await verify(authority, makeResponse(token))).outcome).toBe('pass');
  });

  it('passes for a digest in place of the data', async () => {
    const imprint = { algorithm: 'sha256', digest: digest('sha256', DATA) } as const;
    expect((await verifyMade(authority, {}, { stamped: { imprint } })).outcome).toBe('pass');
    const other = { algorithm: 'sha512', digest: digest('sha512', DATA) } as const;
    expect(failures(await verifyMade(authority, {}, { stamped: { imprint: other } }))).toEqual({
      'tst.imprint': 'indeterminate',
    });
  });

  it('passes over empty data', async () => {
    const data = new Uint8Array(0);
    expect((await verifyMade(authority, { data }, { stamped: { data } })).outcome).toBe('pass');
  });

  it('passes with attributes unsorted and signed so, and with unsorted ones signed sorted', async () => {
    expect((await verifyMade(authority, { signedAttributes: 'unsorted' })).outcome).toBe('pass');
    expect((await verifyMade(authority, { signedAttributes: 'unsorted-but-signed-sorted' })).outcome).toBe('pass');
  });

  it('keeps microseconds', async () => {
    const { claims, outcome } = await verifyMade(authority, { genTime: '20260304050607.123456Z' });
    expect(outcome).toBe('pass');
    expect(claims?.genTimeText).toBe('20260304050607.123456Z');
    expect(claims?.genTime).toEqual(new Date('2026-03-04T05:06:07.123Z'));
    expect(claims?.genTimeMicroseconds).toBe(1772600767123456n);
  });

  it('reads every part of the accuracy', async () => {
    const accuracy = sequence(integer(2), implicit(0, new Uint8Array([3])), implicit(1, new Uint8Array([4])));
    expect((await verifyMade(authority, { accuracy })).claims?.accuracyMicroseconds).toBe(2_003_004);
  });

  it.each(['v1', 'v2', 'v2-sha512', 'both'] as const)('passes with ESS %s', async (ess) => {
    expect(failures(await verifyMade(authority, { ess }))).toEqual({});
    expect(failures(await verifyMade(authority, { ess, essIssuerSerial: false }))).toEqual({});
  });

  it('passes without certificates inside, where the signer’s is given', async () => {
    const untrusted = [authority.tsa.der];
    expect((await verifyMade(authority, { certificates: [] }, { untrusted })).outcome).toBe('pass');
    expect(failures(await verifyMade(authority, { certificates: [] }))).toMatchObject({
      'tst.signer-certificate': 'indeterminate',
      'tst.signature': 'indeterminate',
    });
  });

  it('finds the signer by the key identifier in the certificate’s extension', async () => {
    const signer = ecdsaSigner('P-256', 'sha256');
    const tsa = makeTsa(authority.root, signer, {
      extensions: tsaExtensionsWithKeyIdentifier(keyIdentifierOf(signer)),
    });
    expect((await verify(authority, makeToken(tsa, { sid: 'key-identifier' }))).outcome).toBe('pass');
    // An identifier of the signer's own making, which no hash of the key gives.
    const odd = { ...tsa, keyIdentifier: new Uint8Array([1, 2, 3]) };
    const oddTsa = makeTsa(authority.root, signer, { extensions: tsaExtensionsWithKeyIdentifier(odd.keyIdentifier) });
    const token = makeToken({ ...oddTsa, keyIdentifier: odd.keyIdentifier }, { sid: 'key-identifier' });
    expect((await verify(authority, token)).outcome).toBe('pass');
  });

  it('has a name that matches its certificate, if it has one', async () => {
    const tsaName = context(4, authority.tsa.name);
    expect((await verifyMade(authority, { tsaName })).outcome).toBe('pass');
    const other = context(4, authority.root.name);
    expect(failures(await verifyMade(authority, { tsaName: other }))).toEqual({ 'tst.tsa-name': 'fail' });
  });
});

describe('a token that does not prove it', () => {
  it.each([2, 3, 4, 5, 6])('status %i fails', async (status) => {
    const report = await verify(authority, makeResponse(makeToken(authority.tsa), status));
    expect(failures(report)).toEqual({ 'tst.status': 'fail' });
  });

  it('a granted response without a token fails', async () => {
    expect(failures(await verify(authority, makeResponse(undefined)))).toMatchObject({ 'tst.status': 'fail' });
  });

  it('passes granted with modifications and reports it: every requested value is compared', async () => {
    const report = await verify(authority, makeResponse(makeToken(authority.tsa), 1));
    expect(report.outcome).toBe('pass');
    expect(report.checks.find(({ id }) => id === 'tst.status')?.message).toBe('granted with modifications');
  });

  it.each([
    ['another content type', { contentType: '1.2.840.113549.1.7.1' }, { 'tst.content-type': 'fail' }],
    ['TSTInfo version 2', { version: 2 }, { 'tst.version': 'fail' }],
    ['SignerInfo version 3 with a serial number', { signerVersion: 3 }, { 'tst.version': 'fail' }],
    [
      'SignerInfo version 1 with a key identifier',
      { sid: 'key-identifier', signerVersion: 1 },
      { 'tst.version': 'fail' },
    ],
    ['two signers', { signers: 2 }, { 'tst.single-signer': 'fail' }],
    ['no signer', { signers: 0 }, { 'tst.single-signer': 'fail' }],
    ['stripped attributes', { signedAttributes: 'none' }, { 'tst.signed-attributes': 'fail', 'tst.signature': 'fail' }],
    ['an attribute of another content type', { attributeContentType: '1.2.3' }, { 'tst.signed-attributes': 'fail' }],
    ['a wrong message digest', { wrongMessageDigest: true }, { 'tst.signed-attributes': 'fail' }],
    ['no ESS attribute', { ess: 'none' }, { 'tst.ess': 'fail' }],
    ['a critical extension', { tstExtensions: [extension('1.2.3.4', true, integer(1))] }, { 'tst.extensions': 'fail' }],
    ['a time in the future', { genTime: '20260601000101Z' }, { 'tst.time': 'fail' }],
    [
      'two content types',
      { extraAttributes: [attribute('1.2.840.113549.1.9.3', oid(TST_INFO))] },
      { 'tst.signed-attributes': 'fail' },
    ],
    [
      'two message digests',
      { extraAttributes: [attribute('1.2.840.113549.1.9.4', octets(new Uint8Array(32)))] },
      { 'tst.signed-attributes': 'fail' },
    ],
  ] as const)('%s', async (_name, options, expected) => {
    const report = await verifyMade(authority, options);
    expect(failures(report)).toMatchObject(expected);
    expect(report.outcome).toBe('fail');
  });

  it('other data', async () => {
    const report = await verifyMade(authority, {}, { stamped: { data: new Uint8Array([1]) } });
    expect(failures(report)).toEqual({ 'tst.imprint': 'fail' });
  });

  it('ignores extensions that are not critical', async () => {
    const report = await verifyMade(authority, { tstExtensions: [extension('1.2.3.4', false, integer(1))] });
    expect(report.outcome).toBe('pass');
  });

  it('an ESS hash of another certificate, with issuer and serial number copied', async () => {
    const other = makeTsa(authority.root, undefined, { serial: authority.tsa.serial });
    expect(failures(await verifyMade(authority, { essCertificate: other }))).toEqual({ 'tst.ess': 'fail' });
  });

  it('an injected certificate with the signer’s issuer and serial number does not take its place', async () => {
    const impostor = makeCertificate({
      name: 'Impostor',
      issuer: { ...authority.root, signer: ecdsaSigner('P-256', 'sha256') },
      serial: authority.tsa.serial,
      extensions: TSA_EXTENSIONS,
    });
    const certificates = [impostor.der, authority.root.der, authority.tsa.der];
    expect((await verifyMade(authority, { certificates })).outcome).toBe('pass');
    const token = makeToken({ ...impostor, serial: authority.tsa.serial }, { certificates });
    expect((await verify(authority, token)).outcome).toBe('fail');
  });

  it('a policy that is not allowed', async () => {
    expect(failures(await verifyMade(authority, {}, { allowedPolicies: ['1.2.3'] }))).toEqual({ 'tst.policy': 'fail' });
    const allowed = { allowedPolicies: ['1.2.3', '1.3.6.1.4.1.4146.2.2'] };
    expect((await verifyMade(authority, {}, allowed)).outcome).toBe('pass');
  });

  it('a nonce that is missing or another', async () => {
    const expectedNonce = new Uint8Array([0, 0x9a, 0xbc]);
    expect(failures(await verifyMade(authority, {}, { expectedNonce }))).toEqual({ 'tst.nonce': 'fail' });
    expect(failures(await verifyMade(authority, { nonce: 1n }, { expectedNonce }))).toEqual({ 'tst.nonce': 'fail' });
    expect((await verifyMade(authority, { nonce: 0x9abcn }, { expectedNonce })).outcome).toBe('pass');
  });
});

describe('a signer’s certificate that is not for it', () => {
  it.each([
    ['no extended key usage', [keyUsage(0)], { 'tst.eku': 'fail' }],
    ['one that is not critical', [extendedKeyUsage(false, TIME_STAMPING)], { 'tst.eku': 'fail' }],
    ['one for other purposes too', [extendedKeyUsage(true, TIME_STAMPING, SERVER_AUTH)], { 'tst.eku': 'fail' }],
    ['one for another purpose', [extendedKeyUsage(true, SERVER_AUTH)], { 'tst.eku': 'fail' }],
    ['a key that signs certificates', [...TSA_EXTENSIONS.slice(0, 1), keyUsage(0, 5)], { 'tst.key-usage': 'fail' }],
    ['a key that may not sign', [...TSA_EXTENSIONS.slice(0, 1), keyUsage(2)], { 'tst.key-usage': 'fail' }],
    ['a CA', [...TSA_EXTENSIONS, basicConstraints(true)], { 'tst.not-ca': 'fail' }],
    [
      'an unknown critical extension',
      [...TSA_EXTENSIONS, extension('1.2.3', true, integer(1))],
      { 'tst.path': 'fail' },
    ],
  ])('%s', async (_name, extensions, expected) => {
    const tsa = makeTsa(authority.root, undefined, { extensions });
    expect(failures(await verify(authority, makeToken(tsa)))).toMatchObject(expected);
  });

  it('a certificate of version 1', async () => {
    const tsa = makeTsa(authority.root, undefined, { version: 1 });
    expect(failures(await verify(authority, makeToken(tsa)))).toMatchObject({
      'tst.not-ca': 'fail',
      'tst.eku': 'fail',
    });
  });
});

describe('bytes around and instead of a token', () => {
  it('anything after the token fails', async () => {
    const token = makeToken(authority.tsa);
    for (const bytes of [join(token, new Uint8Array([0])), join(makeResponse(token), token)]) {
      const report = await verify(authority, bytes);
      expect(report.checks[0]).toMatchObject({ id: 'tst.format', outcome: 'fail' });
      expect(report.checks[0]?.message).toContain('trailing-bytes');
    }
  });

  it.each([
    ['nothing', new Uint8Array(0)],
    ['text', new TextEncoder().encode('<!doctype html>')],
    ['an empty sequence', new Uint8Array([0x30, 0])],
    ['a length beyond everything', new Uint8Array([0x30, 0x84, 0xff, 0xff, 0xff, 0xff])],
    ['a length of 127 octets', new Uint8Array([0x30, 0xff, ...new Uint8Array(200)])],
    ['deep indefinite nesting', new Uint8Array(200_000).map((_, index) => (index % 2 === 0 ? 0x30 : 0x80))],
    ['deep definite nesting', nested(5000)],
    ['two megabytes', new Uint8Array(2 * 1024 * 1024)],
  ])('%s fails tst.format and nothing breaks', async (_name, token) => {
    const input = { token, stamped: { data: DATA }, trustAnchors: [], revocation: 'require', at: AT } as const;
    const report = await verifyTimestamp(input);
    expect(report.outcome).toBe('fail');
    expect(report.checks[0]).toMatchObject({ id: 'tst.format', outcome: 'fail' });
    expect(report.claims).toBeUndefined();
  });
});

function nested(depth: number): Uint8Array {
  let bytes = new Uint8Array(sequence());
  for (let i = 0; i < depth; i++) bytes = new Uint8Array(sequence(bytes));
  return bytes;
}
