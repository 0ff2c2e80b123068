import { describe, expect, it } from 'vitest';
import { failures, makeTsa, verify } from './support/authority.js';
import {
  basicConstraints,
  CA_EXTENSIONS,
  crlDistributionPoint,
  extendedKeyUsage,
  extension,
  keyUsage,
  makeCertificate,
  OCSP_SIGNING,
  ocspAccess,
  TSA_EXTENSIONS,
} from './support/certificates.js';
import { context, generalizedTime, implicit, integer, sequence } from './support/der.js';
import { rsaSigner } from './support/keys.js';
import { type CrlOptions, makeCrl, makeOcspResponse, type OcspOptions } from './support/revocation.js';
import { GEN_TIME, makeToken } from './support/tokens.js';

const CRL_URL = 'http://crl.example/tsa.crl';
const root = makeCertificate({ name: 'Root', extensions: CA_EXTENSIONS });
const tsa = makeTsa(root, undefined, {
  extensions: [...TSA_EXTENSIONS, crlDistributionPoint(CRL_URL), ocspAccess('http://ocsp.example/')],
});
const token = makeToken(tsa);
const hours = (count: number) => new Date(GEN_TIME.getTime() + count * 3_600_000);
const AFTER = { thisUpdate: hours(1), nextUpdate: hours(25) };

const withCrl = (options: CrlOptions, issuer = root) => verify({ root }, token, { crls: [makeCrl(issuer, options)] });
const withOcsp = (options: OcspOptions) =>
  verify({ root }, token, { ocspResponses: [makeOcspResponse(tsa, root, options)] });

describe('which answers count', () => {
  it('no answer where the chain names a source: indeterminate; ignored if asked', async () => {
    const report = await verify({ root }, token);
    expect(failures(report)).toEqual({ 'tst.revocation': 'indeterminate' });
    const ignored = await verify({ root }, token, { revocation: 'ignore' });
    expect(ignored).toMatchObject({ outcome: 'pass', revocation: 'ignored' });
  });

  it('reports not applicable for a chain that names no source', async () => {
    const report = await verify({ root }, makeToken(makeTsa(root)));
    expect(report).toMatchObject({ outcome: 'pass', revocation: 'not-applicable' });
    expect(report.checks.find(({ id }) => id === 'tst.revocation')).toMatchObject({
      outcome: 'not-applicable',
      message: 'CN=Test TSA names no source of revocation information',
    });
  });

  it.each([
    ['made after the stamp', AFTER, 'pass', 'conclusive'],
    ['made in the very second', { thisUpdate: GEN_TIME, nextUpdate: hours(1) }, 'pass', 'conclusive'],
    ['in force at the stamp', { thisUpdate: hours(-1), nextUpdate: hours(1) }, 'pass', 'provisional'],
    ['too old', { thisUpdate: hours(-3), nextUpdate: hours(-1) }, 'indeterminate', 'indeterminate'],
    ['without a next one, from before', { thisUpdate: hours(-1) }, 'indeterminate', 'indeterminate'],
  ] as const)('a CRL or OCSP answer %s', async (_name, options, outcome, revocation) => {
    expect(await withCrl(options)).toMatchObject({ outcome, revocation });
    expect(await withOcsp(options)).toMatchObject({ outcome, revocation });
    expect(await withOcsp({ ...options, byKey: true })).toMatchObject({ outcome, revocation });
  });

  it('an answer made after the certificate expired may have dropped it', async () => {
    const short = makeTsa(root, undefined, {
      notAfter: hours(2),
      extensions: [...TSA_EXTENSIONS, crlDistributionPoint(CRL_URL)],
    });
    const late = { thisUpdate: hours(3), nextUpdate: hours(30) };
    const verifyShort = (options: CrlOptions) => verify({ root }, makeToken(short), { crls: [makeCrl(root, options)] });
    expect(failures(await verifyShort(late))).toEqual({ 'tst.revocation': 'indeterminate' });
    const keeping = extension('2.5.29.60', false, generalizedTime('20200101000000Z'));
    expect(await verifyShort({ ...late, extensions: [keeping] })).toMatchObject({ revocation: 'conclusive' });
    const keepingLess = extension('2.5.29.60', false, generalizedTime('20270101000000Z'));
    expect(failures(await verifyShort({ ...late, extensions: [keepingLess] }))).toEqual({
      'tst.revocation': 'indeterminate',
    });
  });

  it('ignores a CRL signed by another key, or altered', async () => {
    const impostor = makeCertificate({ name: 'Root', extensions: CA_EXTENSIONS });
    expect(failures(await withCrl({ ...AFTER, signer: impostor }))).toEqual({ 'tst.revocation': 'indeterminate' });
    const crl = makeCrl(root, AFTER);
    crl[crl.length - 1] = (crl[crl.length - 1] ?? 0) ^ 1;
    const report = await verify({ root }, token, { crls: [crl] });
    expect(failures(report)).toEqual({ 'tst.revocation': 'indeterminate' });
  });

  it('ignores a CRL of a CA whose key may not sign CRLs', async () => {
    const noCrl = makeCertificate({ name: 'No CRL', extensions: [basicConstraints(true), keyUsage(5)] });
    const leaf = makeTsa(noCrl, undefined, { extensions: [...TSA_EXTENSIONS, crlDistributionPoint(CRL_URL)] });
    const report = await verify({ root: noCrl }, makeToken(leaf), { crls: [makeCrl(noCrl, AFTER)] });
    expect(failures(report)).toEqual({ 'tst.revocation': 'indeterminate' });
  });

  it('a CRL signed with SHA-1 does not clear', async () => {
    const weak = makeCertificate({ name: 'Weak', signer: rsaSigner('sha1'), extensions: CA_EXTENSIONS });
    const leaf = makeTsa(weak, undefined, { extensions: [...TSA_EXTENSIONS, crlDistributionPoint(CRL_URL)] });
    const report = await verify({ root: weak }, makeToken(leaf), { crls: [makeCrl(weak, AFTER)] });
    expect(failures(report)).toMatchObject({ 'tst.revocation': 'indeterminate' });
  });

  it('a CRL for other certificates, a part for another source, and a delta say nothing', async () => {
    const scope = (...fields: Uint8Array[]) => extension('2.5.29.28', true, sequence(...fields));
    const uri = (url: string) => context(0, context(0, implicit(6, new TextEncoder().encode(url))));
    const flag = (tag: number) => implicit(tag, new Uint8Array([0xff]));
    const outcomes = async (...extensions: Uint8Array[]) => (await withCrl({ ...AFTER, extensions })).revocation;
    expect(await outcomes(scope(flag(1)))).toBe('conclusive');
    expect(await outcomes(scope(uri(CRL_URL)))).toBe('conclusive');
    expect(await outcomes(scope(flag(2)))).toBe('indeterminate');
    expect(await outcomes(scope(flag(5)))).toBe('indeterminate');
    expect(await outcomes(scope(flag(4)))).toBe('indeterminate');
    expect(await outcomes(scope(implicit(3, new Uint8Array([7, 0x80]))))).toBe('indeterminate');
    expect(await outcomes(scope(uri('http://crl.example/other.crl')))).toBe('indeterminate');
    expect(await outcomes(extension('2.5.29.27', true, integer(1)))).toBe('indeterminate');
    expect(await outcomes(extension('1.2.3', true, integer(1)))).toBe('indeterminate');
    expect(await outcomes(extension('1.2.3', false, integer(1)))).toBe('conclusive');
  });

  it('the message states why a CRL cannot be used', async () => {
    const message = async (crl: Uint8Array) =>
      (await verify({ root }, token, { crls: [crl] })).checks.find(({ id }) => id === 'tst.revocation')?.message;
    const impostor = makeCertificate({ name: 'Root', extensions: CA_EXTENSIONS });
    const stranger = makeCertificate({ name: 'Stranger', extensions: CA_EXTENSIONS });
    const withExtension = (...extensions: Uint8Array[]) => makeCrl(root, { ...AFTER, extensions });
    const cases: [Uint8Array, string][] = [
      [makeCrl(root, { ...AFTER, signer: impostor }), 'the signature of the CRL of CN=Root is invalid'],
      [makeCrl(stranger, AFTER), 'a CRL of another issuer'],
      [withExtension(extension('1.2.3', true, integer(1))), 'has the unknown critical extension 1.2.3'],
      [withExtension(extension('2.5.29.27', true, integer(1))), 'a delta CRL, which this verifier does not use'],
      [
        withExtension(extension('2.5.29.28', true, sequence(implicit(3, new Uint8Array([7, 0x80]))))),
        'the CRL of CN=Root covers only some reasons',
      ],
      [makeCrl(root, AFTER).slice(0, -1), 'a CRL cannot be read: a value extends beyond'],
    ];
    for (const [crl, reason] of cases) expect(await message(crl)).toContain(reason);
  });

  it('CRLs and OCSP answers inside the token count', async () => {
    const report = await verify({ root }, makeToken(tsa, { crls: [makeCrl(root, AFTER)] }));
    expect(report).toMatchObject({ outcome: 'pass', revocation: 'conclusive' });
    const ocsp = makeOcspResponse(tsa, root, AFTER);
    const format = new Uint8Array([0x06, 8, 0x2b, 6, 1, 5, 5, 7, 16, 2]);
    const inside = await verify({ root }, makeToken(tsa, { crls: [context(1, format, ocsp)] }));
    expect(inside).toMatchObject({ outcome: 'pass', revocation: 'conclusive' });
  });

  it('an intermediate needs an answer too', async () => {
    const intermediate = makeCertificate({
      name: 'Intermediate',
      issuer: root,
      extensions: [...CA_EXTENSIONS, crlDistributionPoint(CRL_URL)],
    });
    const leaf = makeTsa(intermediate, undefined, { extensions: [...TSA_EXTENSIONS, crlDistributionPoint(CRL_URL)] });
    const chained = makeToken(leaf, { certificates: [leaf.der, intermediate.der] });
    const leafCrl = makeCrl(intermediate, AFTER);
    const rootCrl = makeCrl(root, AFTER);
    expect(failures(await verify({ root }, chained, { crls: [leafCrl] }))).toEqual({
      'tst.revocation': 'indeterminate',
    });
    expect((await verify({ root }, chained, { crls: [leafCrl, rootCrl] })).revocation).toBe('conclusive');
    const revoked = makeCrl(root, { ...AFTER, revoked: [{ serial: intermediate.serial, at: hours(-1) }] });
    // The second time, the signer's own certificate has no answer: the accusation outweighs that.
    for (const crls of [[leafCrl, revoked], [revoked]]) {
      expect(failures(await verify({ root }, chained, { crls }))).toEqual({ 'tst.revocation': 'fail' });
    }
  });
});

describe('what a revocation means', () => {
  it.each([
    ['before the stamp', -1, 4, 'fail'],
    ['before the stamp, without a reason', -1, undefined, 'fail'],
    ['at the stamp', 0, 4, 'fail'],
    ['after it, reason unspecified', 1, 0, 'pass'],
    ['after it, affiliation changed', 1, 3, 'pass'],
    ['after it, superseded', 1, 4, 'pass'],
    ['after it, cessation of operation', 1, 5, 'pass'],
    ['after it, without a reason (RFC 3161 §4)', 1, undefined, 'fail'],
    ['after it, key compromise', 1, 1, 'fail'],
    ['after it, CA compromise', 1, 2, 'fail'],
    ['after it, on hold', 1, 6, 'indeterminate'],
    ['after it, privilege withdrawn', 1, 9, 'indeterminate'],
  ] as const)('%s', async (_name, hour, reason, outcome) => {
    const options = { thisUpdate: hours(2), nextUpdate: hours(26) };
    const entry = { at: hours(hour), ...(reason === undefined ? {} : { reason }) };
    const byCrl = await withCrl({ ...options, revoked: [{ serial: tsa.serial, ...entry }] });
    expect(byCrl.outcome).toBe(outcome);
    expect((await withOcsp({ ...options, status: entry })).outcome).toBe(outcome);
  });

  it('an accusation outweighs an answer that knows of none', async () => {
    const crls = [makeCrl(root, AFTER), makeCrl(root, { ...AFTER, revoked: [{ serial: tsa.serial, at: hours(-1) }] })];
    for (const order of [crls, [...crls].reverse()]) {
      expect(failures(await verify({ root }, token, { crls: order }))).toEqual({ 'tst.revocation': 'fail' });
    }
  });

  it('an entry of another certificate means nothing', async () => {
    const report = await withCrl({ ...AFTER, revoked: [{ serial: tsa.serial + 1n, at: hours(-1) }] });
    expect(report.revocation).toBe('conclusive');
  });
});

describe('who may answer by OCSP', () => {
  const delegate = (extensions: Uint8Array[], issuer = root) =>
    makeCertificate({ name: 'Responder', issuer, extensions });
  const goodExtensions = [extendedKeyUsage(false, OCSP_SIGNING), keyUsage(0)];

  it('a delegate of the issuer', async () => {
    expect((await withOcsp({ ...AFTER, responder: delegate(goodExtensions) })).revocation).toBe('conclusive');
    expect((await withOcsp({ ...AFTER, responder: delegate(goodExtensions), byKey: true })).revocation).toBe(
      'conclusive',
    );
  });

  it.each([
    ['one without the purpose', () => delegate([keyUsage(0)])],
    [
      'one certified by somebody else',
      () => delegate(goodExtensions, makeCertificate({ name: 'Other', extensions: CA_EXTENSIONS })),
    ],
    [
      'one certified by a namesake',
      () => delegate(goodExtensions, makeCertificate({ name: 'Root', extensions: CA_EXTENSIONS })),
    ],
    ['a namesake of the issuer', () => makeCertificate({ name: 'Root', extensions: CA_EXTENSIONS })],
    [
      'one whose certificate had expired',
      () => makeCertificate({ name: 'Responder', issuer: root, extensions: goodExtensions, notAfter: hours(0) }),
    ],
  ])('not %s', async (_name, responder) => {
    expect(failures(await withOcsp({ ...AFTER, responder: responder() }))).toEqual({
      'tst.revocation': 'indeterminate',
    });
  });

  it('two answers about one certificate in one response: the worse one counts', async () => {
    const revoked = { status: { at: hours(-1) } };
    for (const options of [
      { ...AFTER, second: revoked },
      { ...AFTER, ...revoked, second: {} },
    ])
      expect(failures(await withOcsp(options))).toEqual({ 'tst.revocation': 'fail' });
    expect((await withOcsp({ ...AFTER, second: { status: 'unknown' } })).revocation).toBe('indeterminate');
  });

  it('ignores a response of unknown, about another certificate, or altered', async () => {
    expect((await withOcsp({ ...AFTER, status: 'unknown' })).revocation).toBe('indeterminate');
    const other = makeOcspResponse(makeTsa(root), root, AFTER);
    expect((await verify({ root }, token, { ocspResponses: [other] })).revocation).toBe('indeterminate');
    const altered = makeOcspResponse(tsa, root, AFTER);
    altered[altered.length - 1] = (altered[altered.length - 1] ?? 0) ^ 1;
    expect((await verify({ root }, token, { ocspResponses: [altered] })).revocation).toBe('indeterminate');
  });
});
