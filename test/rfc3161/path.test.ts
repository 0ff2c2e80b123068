import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifyTimestamp } from '../../schemas/rfc3161/verify.js';
import { UNBOUNDED_WORK } from '../../schemas/rfc3161/work.js';
import { parseCertificate } from '../../schemas/rfc3161/x509/certificate.js';
import { constraintsReader, nameConstraintViolations } from '../../schemas/rfc3161/x509/name-constraints.js';
import { AT, failures, makeAuthority, makeTsa, verify } from './support/authority.js';
import {
  basicConstraints,
  CA_EXTENSIONS,
  extendedKeyUsage,
  extension,
  keyUsage,
  makeCertificate,
  nameConstraints,
  SERVER_AUTH,
  type TestCertificate,
  TIME_STAMPING,
  TSA_EXTENSIONS,
} from './support/certificates.js';
import { context, integer, oid, sequence, set, utf8 } from './support/der.js';
import { ecdsaSigner, rsaSigner, rsaSignerOf, type TestHash } from './support/keys.js';
import { DATA, makeToken } from './support/tokens.js';

const root = makeCertificate({ name: 'Root', extensions: CA_EXTENSIONS });
const ca = (name: string, issuer: TestCertificate, extensions = CA_EXTENSIONS) =>
  makeCertificate({ name, issuer, extensions });
const tokenUnder = (issuer: TestCertificate, ...others: TestCertificate[]) => {
  const tsa = makeTsa(issuer);
  return makeToken(tsa, { certificates: [tsa.der, ...others.map(({ der }) => der)] });
};

describe('chains', () => {
  it('go through intermediates in the token, or given beside it', async () => {
    const upper = ca('Upper', root);
    const lower = ca('Lower', upper);
    expect((await verify({ root }, tokenUnder(lower, upper, lower))).outcome).toBe('pass');
    const untrusted = [lower.der, upper.der];
    const report = await verify({ root }, tokenUnder(lower), { untrusted });
    expect(report.outcome).toBe('pass');
    expect(report.chain.map(({ subject }) => subject)).toEqual(['CN=Test TSA', 'CN=Lower', 'CN=Upper', 'CN=Root']);
    expect(failures(await verify({ root }, tokenUnder(lower)))).toMatchObject({ 'tst.path': 'indeterminate' });
  });

  it('may end at an intermediate, at the signer itself, or at a self-signed signer', async () => {
    const intermediate = ca('Intermediate', root);
    expect((await verify({ root: intermediate }, tokenUnder(intermediate))).outcome).toBe('pass');
    const leaf = makeTsa(intermediate);
    expect((await verify({ root: leaf }, makeToken(leaf))).outcome).toBe('pass');
    const alone = makeCertificate({ name: 'Self-signed TSA', extensions: TSA_EXTENSIONS });
    expect((await verify({ root: alone }, makeToken(alone))).outcome).toBe('pass');
    expect(failures(await verify({ root }, makeToken(alone)))).toMatchObject({ 'tst.path': 'fail' });
  });

  it('do not end at a root that only the package vouches for', async () => {
    const { root: other, tsa } = makeAuthority();
    const token = makeToken(tsa, { certificates: [tsa.der, other.der] });
    const report = await verify({ root }, token, { untrusted: [other.der] });
    expect(failures(report)).toMatchObject({ 'tst.path': 'fail' });
    const nobody = await verify({ root }, token, { trustAnchors: [] });
    expect(failures(nobody)).toMatchObject({ 'tst.path': 'indeterminate' });
  });

  it('do not end at a root of the same name with another key', async () => {
    const impostor = makeCertificate({ name: 'Root', extensions: CA_EXTENSIONS });
    const report = await verify({ root }, tokenUnder(impostor, impostor));
    expect(report.outcome).not.toBe('pass');
    expect(report.chain).toEqual([]);
  });

  it('are found through a cross-certificate where the other way leads nowhere', async () => {
    const signer = ecdsaSigner('P-256', 'sha256');
    const otherRoot = makeCertificate({ name: 'Other Root', extensions: CA_EXTENSIONS });
    const byOther = makeCertificate({ name: 'CA', issuer: otherRoot, signer, extensions: CA_EXTENSIONS });
    const byRoot = makeCertificate({ name: 'CA', issuer: root, signer, extensions: CA_EXTENSIONS });
    expect((await verify({ root }, tokenUnder(byOther, otherRoot, byOther, byRoot))).outcome).toBe('pass');
  });

  it.each([
    ['is no CA', [keyUsage(5)]],
    ['says it is no CA', [basicConstraints(false), keyUsage(5)]],
    ['may not sign certificates', [basicConstraints(true), keyUsage(0)]],
    ['is critically for other purposes', [...CA_EXTENSIONS, extendedKeyUsage(true, SERVER_AUTH)]],
    ['has an unknown critical extension', [...CA_EXTENSIONS, extension('1.2.3', true, integer(1))]],
  ])('fail where an intermediate %s', async (_name, extensions) => {
    const intermediate = ca('Intermediate', root, extensions);
    expect(failures(await verify({ root }, tokenUnder(intermediate, intermediate)))).toMatchObject({
      'tst.path': 'fail',
    });
  });

  it.each([
    ['for time-stamping', [...CA_EXTENSIONS, extendedKeyUsage(false, SERVER_AUTH, TIME_STAMPING)]],
    ['for any purpose', [...CA_EXTENSIONS, extendedKeyUsage(true, '2.5.29.37.0')]],
    ['with an unknown extension that is not critical', [...CA_EXTENSIONS, extension('1.2.3', false, integer(1))]],
  ])('pass where an intermediate is %s', async (_name, extensions) => {
    const intermediate = ca('Intermediate', root, extensions);
    expect((await verify({ root }, tokenUnder(intermediate, intermediate))).outcome).toBe('pass');
  });

  it('stay open where an intermediate is for other purposes, but not critically', async () => {
    const intermediate = ca('Intermediate', root, [...CA_EXTENSIONS, extendedKeyUsage(false, SERVER_AUTH)]);
    const report = await verify({ root }, tokenUnder(intermediate, intermediate));
    expect(failures(report)).toEqual({ 'tst.path': 'indeterminate', 'tst.revocation': 'indeterminate' });
  });

  it.each([
    ['the extended key usage', [...CA_EXTENSIONS, extendedKeyUsage(true, SERVER_AUTH)]],
    ['the key usage', [basicConstraints(true), keyUsage(0)]],
  ])('do not evaluate %s of the anchor', async (_name, extensions) => {
    const anchor = makeCertificate({ name: 'Anchor', extensions });
    expect((await verify({ root: anchor }, tokenUnder(anchor))).outcome).toBe('pass');
  });

  it('fail where the anchor is not a CA and issued another certificate', async () => {
    const anchor = makeCertificate({ name: 'Anchor', extensions: [keyUsage(0)] });
    expect(failures(await verify({ root: anchor }, tokenUnder(anchor)))).toMatchObject({ 'tst.path': 'fail' });
  });

  const statements = (...ids: readonly string[]) => sequence(...ids.map((id) => sequence(oid(id))));
  it.each([
    ['pass', 'known statements', statements('0.4.0.1862.1.1', '1.3.6.1.5.5.7.11.2', '1.2.804.2.1.1.1.2.1')],
    ['indeterminate', 'an unknown statement', statements('0.4.0.1862.1.1', '1.2.3')],
    ['indeterminate', 'statements that cannot be read', integer(1)],
  ])('%s with critical qcStatements of %s', async (outcome, _name, value) => {
    const tsa = makeTsa(root, undefined, {
      extensions: [...TSA_EXTENSIONS, extension('1.3.6.1.5.5.7.1.3', true, value)],
    });
    expect((await verify({ root }, makeToken(tsa))).outcome).toBe(outcome);
  });

  it('obey the path length', async () => {
    const upper = ca('Upper', root, [basicConstraints(true, 0), keyUsage(5)]);
    expect((await verify({ root }, tokenUnder(upper, upper))).outcome).toBe('pass');
    const lower = ca('Lower', upper);
    expect(failures(await verify({ root }, tokenUnder(lower, lower, upper)))).toMatchObject({ 'tst.path': 'fail' });
  });

  it('may end at a trusted root of version 1, but not pass through one', async () => {
    const old = makeCertificate({ name: 'Old Root', version: 1 });
    expect((await verify({ root: old }, tokenUnder(old))).outcome).toBe('pass');
    const oldIntermediate = makeCertificate({ name: 'Old CA', issuer: root, version: 1 });
    expect(failures(await verify({ root }, tokenUnder(oldIntermediate, oldIntermediate)))).toMatchObject({
      'tst.path': 'fail',
    });
  });

  it('are evaluated at the time of the stamp', async () => {
    const expiredToday = makeTsa(root, undefined, { notAfter: new Date('2026-03-05T00:00:00Z') });
    expect((await verify({ root }, makeToken(expiredToday))).outcome).toBe('pass');
    const expiredThen = makeTsa(root, undefined, { notAfter: new Date('2026-03-04T05:06:06Z') });
    expect(failures(await verify({ root }, makeToken(expiredThen)))).toMatchObject({ 'tst.path': 'fail' });
    const lastSecond = makeTsa(root, undefined, { notAfter: new Date('2026-03-04T05:06:07Z') });
    expect((await verify({ root }, makeToken(lastSecond))).outcome).toBe('pass');
    const notYet = makeTsa(root, undefined, { notBefore: new Date('2026-03-04T05:06:08Z') });
    expect(failures(await verify({ root }, makeToken(notYet)))).toMatchObject({ 'tst.path': 'fail' });
  });

  it('fail where the root had expired at the time of the stamp', async () => {
    const old = makeCertificate({ name: 'Old', extensions: CA_EXTENSIONS, notAfter: new Date('2026-01-01T00:00:00Z') });
    expect(failures(await verify({ root: old }, tokenUnder(old)))).toMatchObject({ 'tst.path': 'fail' });
  });

  it('are not sure where an intermediate was signed with SHA-1; a root’s own signature does not matter', async () => {
    const weak = makeCertificate({ name: 'Weak', signer: rsaSigner('sha1'), extensions: CA_EXTENSIONS });
    const strong = makeCertificate({
      name: 'Strong',
      issuer: weak,
      signer: ecdsaSigner('P-256', 'sha256'),
      extensions: CA_EXTENSIONS,
    });
    const report = await verify({ root: weak }, tokenUnder(strong, strong));
    expect(failures(report)).toEqual({ 'tst.algorithms': 'indeterminate' });
    expect((await verify({ root: strong }, tokenUnder(strong))).outcome).toBe('pass');
  });

  it('take the path whose algorithms are sound, in whatever order certificates are given', async () => {
    // `openssl verify` takes the path by the order of -untrusted, and SHA-1 at security level 0.
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 3072 });
    const anchor = makeCertificate({ name: 'Anchor', signer: rsaSignerOf(privateKey), extensions: CA_EXTENSIONS });
    const signer = ecdsaSigner('P-256', 'sha256');
    const byHash = (hash: TestHash) => {
      const issuer = { ...anchor, signer: rsaSignerOf(privateKey, hash) };
      return makeCertificate({ name: 'CA', issuer, signer, extensions: CA_EXTENSIONS, serial: BigInt(hash.slice(3)) });
    };
    const [weak, strong] = [byHash('sha1'), byHash('sha256')];
    for (const others of [
      [weak, strong],
      [strong, weak],
    ]) {
      const untrusted = others.map(({ der }) => der);
      expect(failures(await verify({ root: anchor }, tokenUnder(strong), { untrusted }))).toEqual({});
    }
    expect(failures(await verify({ root: anchor }, tokenUnder(weak, weak)))).toEqual({
      'tst.algorithms': 'indeterminate',
    });
  });

  it('compare each name once with all constraints of a length', () => {
    const bases = (count: number) =>
      Array.from({ length: count }, (_, i) => context(4, sequence(set(sequence(oid('2.5.4.3'), utf8(`b${i}`))))));
    const readsWith = (count: number) => {
      const issuer = ca('Constrained', root, [...CA_EXTENSIONS, nameConstraints(1, ...bases(count))]);
      const leaf = parseCertificate(makeTsa(issuer).der);
      let reads = 0;
      const { relativeNames } = leaf.subject;
      const subject = {
        ...leaf.subject,
        get relativeNames() {
          reads += 1;
          return relativeNames;
        },
      };
      const path = [{ ...leaf, subject }, parseCertificate(issuer.der), parseCertificate(root.der)];
      const constraintsOf = constraintsReader(UNBOUNDED_WORK);
      expect(nameConstraintViolations(path, constraintsOf, UNBOUNDED_WORK)).toEqual([]);
      return reads;
    };
    expect(readsWith(500)).toBe(readsWith(5));
  });

  it('fail where they would cost more than is permitted', async () => {
    const input = { token: tokenUnder(root), stamped: { data: DATA }, trustAnchors: [root.der], at: AT } as const;
    const report = await verifyTimestamp({ ...input, revocation: 'require' }, { fixed: 100_000, perByte: 0 });
    expect(report.checks.find(({ id }) => id === 'tst.path')).toMatchObject({
      outcome: 'fail',
      message: 'the token and its chain would cost more than their limit of 100000 units of work',
    });
    expect((await verifyTimestamp({ ...input, revocation: 'require' })).outcome).toBe('pass');
  });

  it('compare names as RFC 5280 does: case, spaces and string types aside', async () => {
    const printable = (value: string) => new Uint8Array([0x13, value.length, ...new TextEncoder().encode(value)]);
    const shouting = { ...root, name: sequence(set(sequence(oid('2.5.4.3'), printable('  ROOT ')))) };
    expect((await verify({ root }, tokenUnder(shouting))).outcome).toBe('pass');
    const other = { ...root, name: sequence(set(sequence(oid('2.5.4.10'), utf8('Root')))) };
    expect((await verify({ root }, tokenUnder(other))).outcome).not.toBe('pass');
  });

  it('obey name constraints on directory names', async () => {
    const base = (value: string) => sequence(context(4, sequence(set(sequence(oid('2.5.4.3'), utf8(value))))));
    const constrained = (tag: number, value: string) =>
      ca('Constrained', root, [...CA_EXTENSIONS, extension('2.5.29.30', true, sequence(context(tag, base(value))))]);
    const permitted = constrained(0, 'Test TSA');
    expect((await verify({ root }, tokenUnder(permitted, permitted))).outcome).toBe('pass');
    const elsewhere = constrained(0, 'Somebody else');
    expect(failures(await verify({ root }, tokenUnder(elsewhere, elsewhere)))).toMatchObject({ 'tst.path': 'fail' });
    const excluded = constrained(1, 'Test TSA');
    expect(failures(await verify({ root }, tokenUnder(excluded, excluded)))).toMatchObject({ 'tst.path': 'fail' });
  });

  it('end the search where every certificate names every other', async () => {
    const signer = ecdsaSigner('P-256', 'sha256');
    // One name and one issuer name, many keys that all verify nothing, and many copies that differ
    // in their serial number.
    const maze = Array.from({ length: 60 }, (_, i) =>
      makeCertificate({
        name: 'Maze',
        signer: i % 2 ? signer : ecdsaSigner('P-256', 'sha256'),
        extensions: CA_EXTENSIONS,
      }),
    );
    const entry = makeCertificate({ name: 'Maze', signer, extensions: CA_EXTENSIONS });
    const report = await verify({ root }, tokenUnder(entry, ...maze));
    expect(report.outcome).toBe('fail');
  });

  it('ignore certificates that cannot be read, in the token and beside it', async () => {
    const tsa = makeTsa(root);
    const token = makeToken(tsa, { certificates: [sequence(integer(1)), tsa.der] });
    expect((await verify({ root }, token, { untrusted: [new Uint8Array([1, 2, 3])] })).outcome).toBe('pass');
  });

  it('sound until the first of expiries and sunsets', async () => {
    const tsa = makeTsa(root, undefined, { notAfter: new Date('2029-01-01T00:00:00Z') });
    const { soundUntil } = await verify({ root }, makeToken(tsa), { at: AT });
    expect(soundUntil).toEqual({
      date: new Date('2029-01-01T00:00:00Z'),
      reason: 'the certificate of CN=Test TSA expires',
      cause: { kind: 'certificate', name: 'CN=Test TSA' },
    });
  });
});
