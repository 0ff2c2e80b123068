import { expect, test } from 'vitest';
import { sha256 } from '../../schemas/crypto/digest.js';
import { toHex } from '../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import type { VerificationReport, VerifyOptions } from '../../verifier-cli/src/index.js';
import { RecordWatch } from '../../verifier-cli/src/index.js';
import { terminalReport } from '../../verifier-cli/src/report/terminal.js';
import {
  CA_EXTENSIONS,
  crlDistributionPoint,
  makeCertificate,
  type TestCertificate,
  TSA_EXTENSIONS,
} from '../rfc3161/support/certificates.js';
import { timeText } from '../rfc3161/support/der.js';
import { makeCrl } from '../rfc3161/support/revocation.js';
import { makeResponse, makeToken } from '../rfc3161/support/tokens.js';
import { CHECKPOINT_SIZES, fixtureAuthority, stampTime } from '../support/ledger-fixture.js';
import { fixtureUuid, minute, policyEvent } from '../support/ledger-fixture-events.js';
import { buildPackage, type Files, type PackageHooks } from '../support/package-builder.js';
import { notPassed, verifyFixture } from './support.js';

interface Authority {
  readonly root: TestCertificate;
  readonly tsa: TestCertificate;
}

function newAuthority(name: string, organization?: string): Authority {
  const named = organization === undefined ? { name } : { name, organization };
  const root = makeCertificate({ ...named, extensions: CA_EXTENSIONS });
  const extensions = [...TSA_EXTENSIONS, crlDistributionPoint(`http://crl.example/${toHex(root.keyIdentifier)}.crl`)];
  return { root, tsa: makeCertificate({ name: `TSA of ${name}`, issuer: root, extensions }) };
}

const authority = fixtureAuthority();
const other = newAuthority('Other Root', 'Other Authority');
const sameName = newAuthority('Other Root G2', 'OTHER  authority');

/** Time of the stamp by another authority: a minute after that of the first. */
const otherTime = (size: number): Date => new Date(stampTime(size).getTime() + 60_000);

/** Adds the stamps of a further authority over these checkpoints. */
function stampedBy(by: Authority, number: number, sizes: readonly number[] = CHECKPOINT_SIZES): PackageHooks {
  return {
    files: (files) => {
      for (const size of sizes) addStamp(files, by, size, number);
    },
  };
}

function addStamp(files: Files, by: Authority, size: number, number: number): void {
  const data = files.get(PACKAGE_FILES.note(size)) ?? new Uint8Array();
  const token = makeToken(by.tsa, { data, genTime: timeText(otherTime(size)) });
  files.set(PACKAGE_FILES.response(size, number), makeResponse(token));
  const crl = makeCrl(by.root, { thisUpdate: new Date(otherTime(size).getTime() + 1000), nextUpdate: minute(2000) });
  files.set(PACKAGE_FILES.crl(toHex(sha256(crl))), crl);
  files.set(PACKAGE_FILES.certificate(toHex(sha256(by.tsa.der))), by.tsa.der);
}

function corrupted(size: number, number: number): (files: Files) => void {
  return (files) => {
    const name = PACKAGE_FILES.response(size, number);
    const bytes = Uint8Array.from(files.get(name) ?? []);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    files.set(name, bytes);
  };
}

const both = (...hooks: readonly PackageHooks[]): PackageHooks => ({
  files: (files) => {
    for (const hook of hooks) hook.files?.(files);
  },
});

const trust = { trustAnchors: [authority.root.der, other.root.der, sameName.root.der] };
const verify = (hooks: PackageHooks, options: Partial<VerifyOptions> = {}): Promise<VerificationReport> =>
  verifyFixture(authority, buildPackage(authority, hooks), { ...trust, ...options });
const check = (report: VerificationReport, id: string) => report.checks.find((one) => one.id === id);

test('two valid stamps: the earlier one ends the interval, and with two required the later one', async () => {
  const one = await verify(stampedBy(other, 2));
  expect(one.verdict).toBe('valid');
  expect(one.proved).toMatchObject({ required_stamps: 1, earliest: { time: stampTime(1).toISOString() } });
  const two = await verify(stampedBy(other, 2), { requireStamps: 2 });
  expect(notPassed(two)).toEqual({});
  expect(two.proved).toMatchObject({
    required_stamps: 2,
    earliest: { time: otherTime(1).toISOString(), checkpoint: 1 },
    not_after: { time: otherTime(5).toISOString(), checkpoint: 5 },
  });
});

test('the report lists every token with its file and its authority', async () => {
  const { stamps, ...report } = await verify(stampedBy(other, 2), { requireStamps: 2 });
  expect(stamps.count).toBe(2 * CHECKPOINT_SIZES.length);
  const listed = stamps.first.map(({ file, outcome, organization }) => [file, outcome, organization]);
  expect(listed).toEqual(
    CHECKPOINT_SIZES.flatMap((size) => [
      [`checkpoints/${size}.1.tsr`, 'pass', 'CN=fixture root'],
      [`checkpoints/${size}.2.tsr`, 'pass', 'O=other authority'],
    ]),
  );
  expect(terminalReport({ ...report, stamps }, en)).toContain(
    '  checkpoints/5.2.tsr: valid, 2026-03-01T10:50:00.000Z, CN=TSA of Other Root; root of O=other authority',
  );
});

test('what the operator states of an authority stands beside its own stamp alone', async () => {
  const stated = { organization: 'Other Authority', trusted_list: 'https://tl.example/eu' };
  const qualifiedBeside = async (sizes: readonly number[]) => {
    const { files } = stampedBy(other, 2, sizes);
    const { operator } = await verify({
      ...(files !== undefined && { files }),
      world: ({ batches }) => void batches[0]?.push(policyEvent(1, 2, { qualified_stamps: [stated] })),
    });
    return operator?.qualified_stamps;
  };
  expect(await qualifiedBeside(CHECKPOINT_SIZES)).toEqual([stated]);
  // It stamped an earlier state, and another authority what the report shows.
  expect(await qualifiedBeside(CHECKPOINT_SIZES.slice(0, 1))).toEqual([]);
});

test('one authority where two are required is indeterminate, and the message counts', async () => {
  const report = await verify({}, { requireStamps: 2 });
  expect(report.verdict).toBe('indeterminate');
  expect(check(report, 'time.stamped')).toMatchObject({
    outcome: 'indeterminate',
    problems: expect.arrayContaining([
      expect.objectContaining({ message: 'valid time stamps of 1 distinct authority cover the entry: 2 are required' }),
    ]),
  });
  expect(report.proved).toMatchObject({ not_after: null, batches_without_stamp: report.proved.batches });
  expect(terminalReport(report, en)).toContain('not proved: no valid time stamps of 2 distinct authorities for');
});

test.each<[string, PackageHooks]>([
  ['by the same root', stampedBy({ root: authority.root, tsa: authority.tsa }, 2)],
  ['by another key of the same root', stampedBy(secondKeyOf(authority.root), 2)],
])('two stamps %s are of one authority', async (_, hooks) => {
  const report = await verify(hooks, { requireStamps: 2 });
  expect(report.verdict).toBe('indeterminate');
  expect(check(report, 'time.stamped')?.outcome).toBe('indeterminate');
  expect((await verify(hooks)).verdict).toBe('valid');
});

function secondKeyOf(root: TestCertificate): Authority {
  const extensions = [...TSA_EXTENSIONS, crlDistributionPoint('http://crl.example/root.crl')];
  return { root, tsa: makeCertificate({ name: 'Second TSA', issuer: root, extensions }) };
}

test('two roots that name one organization, in other case and with other spaces, are one authority', async () => {
  const hooks = both(stampedBy(other, 2), stampedBy(sameName, 3));
  expect((await verify(hooks, { requireStamps: 2 })).verdict).toBe('valid');
  const three = await verify(hooks, { requireStamps: 3 });
  expect(three.verdict).toBe('indeterminate');
  expect(check(three, 'time.stamped')?.problems[0]?.message).toContain('2 distinct authorities');
});

test('a later checkpoint supplies the second authority of an earlier batch', async () => {
  const report = await verify(stampedBy(other, 2, [5]), { requireStamps: 2 });
  expect(report.verdict).toBe('valid');
  expect(report.proved.earliest).toMatchObject({ time: otherTime(5).toISOString(), checkpoint: 5 });
});

test.each([1, 2])('with token %i corrupted the other one carries, and the report says so', async (number) => {
  const hooks = both(stampedBy(other, 2), { files: corrupted(5, number) });
  const report = await verify(hooks);
  expect(notPassed(report)).toEqual({});
  expect(report.verdict).toBe('valid');
  const file = `checkpoints/5.${number}.tsr`;
  const proved = number === 1 ? otherTime(5) : stampTime(5);
  expect(report.proved.not_after?.time).toBe(proved.toISOString());
  expect(report.stamps.first.find((stamp) => stamp.file === file)?.outcome).toBe('fail');
  expect(check(report, 'tst.signature')).toMatchObject({
    outcome: 'indeterminate',
    problems: [expect.objectContaining({ file })],
  });
  expect(report.warnings.first).toContainEqual({
    message: 'the time stamp is invalid and was not used: another one of its checkpoint is valid',
    code: 'stamp-not-used',
    file,
  });
  const two = await verify(hooks, { requireStamps: 2 });
  expect(two.verdict).toBe('indeterminate');
});

test('with every token of a checkpoint corrupted the package is invalid', async () => {
  const report = await verify(both(stampedBy(other, 2), { files: corrupted(5, 1) }, { files: corrupted(5, 2) }));
  expect(report.verdict).toBe('invalid');
  expect(check(report, 'tst.signature')).toMatchObject({ outcome: 'fail', counts: { fail: 2 } });
});

test('an authority whose root is not given counts for nothing', async () => {
  const trustAnchors = [authority.root.der];
  expect((await verify(stampedBy(other, 2), { trustAnchors })).verdict).toBe('valid');
  expect((await verify(stampedBy(other, 2), { trustAnchors, requireStamps: 2 })).verdict).toBe('indeterminate');
});

test('a batch may name the second token of a checkpoint as the older one', async () => {
  const named = new Map<number, Uint8Array>();
  const report = await verify({
    note: (note, size) => {
      const data = new TextEncoder().encode(note);
      named.set(size, makeResponse(makeToken(other.tsa, { data, genTime: timeText(otherTime(size)) })));
      return note;
    },
    header: (header) => {
      const response = named.get(header.after?.size ?? 0);
      return header.after === null || response === undefined
        ? header
        : { ...header, after: { size: header.after.size, sha256: toHex(sha256(response)) } };
    },
    files: (files) => {
      stampedBy(other, 2).files?.(files);
      for (const [size, response] of named) files.set(PACKAGE_FILES.response(size, 2), response);
    },
  });
  expect(notPassed(report)).toEqual({});
  expect(check(report, 'time.start')?.outcome).toBe('pass');
  expect(report.proved.intervals.find(({ batch }) => batch === 4)?.after?.time).toBe(otherTime(4).toISOString());
});

test('show names the token that ends the interval', async () => {
  const zip = buildPackage(authority, stampedBy(other, 2));
  for (const [requireStamps, file] of [
    [1, 'checkpoints/2.1.tsr'],
    [2, 'checkpoints/2.2.tsr'],
  ] as const) {
    const watch = RecordWatch.of(fixtureUuid('c2'));
    if (watch === null) throw new Error('not an event id');
    await verifyFixture(authority, zip, { ...trust, requireStamps }, watch);
    expect(watch.shown?.proof.stamp?.file).toBe(file);
  }
});

test.each(['checkpoints/5.tsr', 'checkpoints/5.0.tsr', 'checkpoints/5.10.tsr', 'checkpoints/5.01.tsr'])(
  'the name %s is refused',
  async (name) => {
    const report = await verify({
      files: (files) => void files.set(name, files.get(PACKAGE_FILES.response(5, 1)) ?? new Uint8Array()),
    });
    expect(notPassed(report)).toMatchObject({ 'container.names': 'fail' });
  },
);
