import { expect, test } from 'vitest';
import { utf8 } from '../../schemas/crypto/encoding.js';
import type { BatchHeader } from '../../schemas/evidence/batch-header.js';
import type { VerificationReport } from '../../verifier-cli/src/index.js';
import { crlDistributionPoint, makeCertificate, TSA_EXTENSIONS } from '../rfc3161/support/certificates.js';
import { timeText } from '../rfc3161/support/der.js';
import { rsaSigner } from '../rfc3161/support/keys.js';
import { makeCrl } from '../rfc3161/support/revocation.js';
import { makeResponse, makeToken } from '../rfc3161/support/tokens.js';
import { fixtureAuthority, stampTime } from '../support/ledger-fixture.js';
import { fixtureConsent, fixtureUuid } from '../support/ledger-fixture-events.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { notPassed, verifyFixture } from './support.js';

const authority = fixtureAuthority();
/** RSA of 2,048 bits is sound until 2031, P-256 until 2036. */
const weak = makeCertificate({
  name: 'Fixture TSA of old',
  issuer: authority.root,
  signer: rsaSigner('sha256', 2048),
  extensions: [...TSA_EXTENSIONS, crlDistributionPoint('http://crl.example/root.crl')],
});
const IN_2030 = new Date('2030-06-01T00:00:00Z');
const IN_2032 = new Date('2032-06-01T00:00:00Z');

/** Has these sizes stamped with the weaker key. */
function weaklyStamped(...sizes: readonly number[]): PackageHooks {
  const notes = new Map<number, string>();
  return {
    note: (note, size) => {
      notes.set(size, note);
      return note;
    },
    response: (response, size) =>
      sizes.includes(size)
        ? makeResponse(makeToken(weak, { data: utf8(notes.get(size) ?? ''), genTime: timeText(stampTime(size)) }))
        : response,
  };
}

/**
 * Has the last batch name the stamp that the one before it names: none names the stamp over
 * checkpoint 4.
 */
function namingOlder(): PackageHooks['header'] {
  let known: BatchHeader['after'] = null;
  return (header) => {
    if (header.number === 4) return { ...header, after: known };
    known = header.after;
    return header;
  };
}

const verify = (hooks: PackageHooks, at: Date) => verifyFixture(authority, buildPackage(authority, hooks), { at });
const renewals = ({ stamps }: VerificationReport) => stamps.first.map((stamp) => stamp.renewed_by);
const outcomes = ({ stamps }: VerificationReport) => stamps.first.map((stamp) => stamp.outcome);

test('until their algorithms end, stamps stand by themselves', async () => {
  const report = await verify(weaklyStamped(1, 2, 4, 5), IN_2030);
  expect(notPassed(report)).toEqual({});
  expect(renewals(report)).toEqual([null, null, null, null]);
});

test('after that, an older stamp is evaluated at the time of the next valid one, and proves what it proved', async () => {
  const report = await verify(weaklyStamped(1, 2, 4), IN_2032);
  expect(notPassed(report)).toEqual({});
  expect(report.verdict).toBe('valid');
  const by = (size: number) => ({ checkpoint: size, time: stampTime(size).toISOString() });
  expect(renewals(report)).toEqual([by(2), by(4), by(5), null]);
  expect(report.proved.earliest?.time).toBe(stampTime(1).toISOString());
  expect(report.checks.find(({ id }) => id === 'tst.algorithms')?.outcome).toBe('pass');
  expect(report.warnings.first.map(({ code }) => code)).toEqual(['refusal-permits', 'erased-soon']);
});

test('the nearest newer stamp that holds renews it', async () => {
  const report = await verify(weaklyStamped(1, 4), IN_2032);
  expect(renewals(report).map((by) => by?.checkpoint ?? null)).toEqual([2, null, 5, null]);
});

test('a stamp that no batch names is not renewed: anyone could make one like it once its algorithms are broken', async () => {
  const unnamed = await verify({ ...weaklyStamped(2, 4), header: namingOlder() }, IN_2032);
  expect(outcomes(unnamed)).toEqual(['pass', 'pass', 'indeterminate', 'pass']);
  expect(notPassed(unnamed)).toEqual({});
  expect(renewals(unnamed).map((by) => by?.checkpoint ?? null)).toEqual([null, 5, null, null]);
  // A batch that only that stamp dated has the time of the next stamp that holds.
  const { intervals } = unnamed.proved;
  expect(intervals.find(({ batch }) => batch === 3)?.before?.time).toBe(stampTime(5).toISOString());
});

test('a stamp of 2026 that only one of 2030 would renew, but that no batch names, dates nothing: it may be made up', async () => {
  const later = new Date('2030-12-01T00:00:00Z');
  const report = await verify(
    {
      ...weaklyStamped(4),
      header: namingOlder(),
      token: (size) => (size === 5 ? { genTime: timeText(later) } : {}),
      crl: (thisUpdate, size) =>
        makeCrl(authority.root, {
          thisUpdate: size === 5 ? new Date(later.getTime() + 1000) : thisUpdate,
          nextUpdate: new Date('2031-01-01T00:00:00Z'),
        }),
      manifest: (manifest) => ({ ...manifest, exported_at: '2030-12-02T00:00:00.000Z' }),
    },
    IN_2032,
  );
  expect(outcomes(report)).toEqual(['pass', 'pass', 'indeterminate', 'pass']);
  expect(notPassed(report)).toMatchObject({ 'time.claimed': 'indeterminate' });
  expect(report.verdict).toBe('indeterminate');
});

test('a batch without an entry of the package is enclosed for what it names', async () => {
  const elsewhere = [fixtureConsent('o4', 31, { site: fixtureUuid('other site') })];
  const quiet: PackageHooks = {
    ...weaklyStamped(1, 2, 4),
    world: (world) => {
      world.batches.splice(3, 2, elsewhere, [fixtureConsent('o5', 41, { site: world.otherSiteId })]);
      Object.assign(world, { erased: [] });
    },
  };
  const named = await verify(quiet, IN_2032);
  expect(renewals(named).map((by) => by?.checkpoint ?? null)).toEqual([2, 4, 5, null]);
  expect(notPassed(named)).toEqual({});
  expect(named.proved).toMatchObject({ batches: 2, not_after: { time: stampTime(2).toISOString() } });
});

test('nothing renews where the newest stamp has reached its end too', async () => {
  const report = await verify(weaklyStamped(1, 2, 4, 5), IN_2032);
  expect(outcomes(report)).toEqual(['indeterminate', 'indeterminate', 'indeterminate', 'indeterminate']);
  expect(report.verdict).toBe('indeterminate');
  expect(notPassed(report)).toMatchObject({ 'time.stamped': 'indeterminate' });
});

test('a newer stamp that came after the end renews nothing', async () => {
  const report = await verify(
    { ...weaklyStamped(1, 2, 4), token: (size) => (size === 5 ? { genTime: timeText(new Date('2031-03-01')) } : {}) },
    IN_2032,
  );
  expect(outcomes(report).slice(0, 3)).toEqual(['indeterminate', 'indeterminate', 'indeterminate']);
  expect(renewals(report)).toEqual([null, null, null, null]);
});

test('a newer stamp over a checkpoint that no proof ties to the older one renews nothing', async () => {
  const report = await verify({ ...weaklyStamped(1, 2), consistencyLines: (lines) => lines.slice(0, 1) }, IN_2032);
  expect(renewals(report)).toEqual([null, null, null, null]);
  expect(outcomes(report).slice(0, 2)).toEqual(['indeterminate', 'indeterminate']);
  expect(report.verdict).toBe('indeterminate');
});

test('a newer stamp that fails renews nothing, and neither does one without a trusted root', async () => {
  const failing = await verify(
    { ...weaklyStamped(1, 2, 4), token: (size) => (size === 5 ? { version: 2 } : {}) },
    IN_2032,
  );
  expect(renewals(failing)).toEqual([null, null, null, null]);
  const zip = buildPackage(authority, weaklyStamped(1, 2, 4));
  const untrusted = await verifyFixture(authority, zip, { at: IN_2032, trustAnchors: [] });
  expect(renewals(untrusted)).toEqual([null, null, null, null]);
});

test('a digest that was never sound is not renewed', async () => {
  const report = await verify({ token: (size) => (size === 1 ? { imprintHash: 'sha1' } : {}) }, IN_2030);
  expect(outcomes(report)[0]).toBe('indeterminate');
  expect(renewals(report)[0]).toBeNull();
});
