import { expect, test } from 'vitest';
import { utf8 } from '../../schemas/crypto/encoding.js';
import { UnknownFormatVersion } from '../../verifier-cli/src/index.js';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { policyEvent } from '../support/ledger-fixture-events.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { event, record, streamOf } from './attacks/attack.js';
import { notPassed, verifyFixture } from './support.js';

const authority = fixtureAuthority();
const verdictOf = async (hooks: PackageHooks) => {
  const report = await verifyFixture(authority, buildPackage(authority, hooks));
  return { verdict: report.verdict, ...notPassed(report) };
};

test('leaves a newer minor version open, with members that it does not know', async () => {
  expect(await verdictOf({ manifest: (one) => ({ ...one, version: '1.7', colour: 'green' }) })).toEqual({
    verdict: 'indeterminate',
    'manifest.format': 'indeterminate',
  });
});

test('refuses members that version 1.0 does not have', async () => {
  expect(await verdictOf({ manifest: (one) => ({ ...one, colour: 'green' }) })).toMatchObject({
    'manifest.format': 'fail',
  });
});

test.each(['2.0', '0.9'])('gives no verdict on version %s', async (version) => {
  const zip = buildPackage(authority, { manifest: (one) => ({ ...one, version }) });
  await expect(verifyFixture(authority, zip)).rejects.toBeInstanceOf(UnknownFormatVersion);
});

test('leaves a package with an extension open, and verifies its digest', async () => {
  const added: PackageHooks = { files: (files) => void files.set('ext/sound/notes.txt', utf8('la')) };
  expect(await verdictOf(added)).toEqual({ verdict: 'indeterminate', 'container.names': 'indeterminate' });
  const changed: PackageHooks = { ...added, signedFiles: (files) => void files.set('ext/sound/notes.txt', utf8('li')) };
  expect(await verdictOf(changed)).toMatchObject({ verdict: 'invalid', 'manifest.files': 'fail' });
});

test('ignores a newer manifest whose filter it does not understand, and judges everything else', async () => {
  const newer = (one: { readonly filter: object }) => ({
    ...one,
    version: '1.7',
    filter: { ...one.filter, country: 'DE' },
  });
  const found = await verdictOf({ manifest: newer });
  expect(found).toMatchObject({ verdict: 'indeterminate', 'manifest.format': 'indeterminate' });
  expect(Object.values(found)).not.toContain('fail');
});

/** Seals the entries of events as of version 2. */
const versionTwo = (...labels: readonly string[]): PackageHooks => ({
  entryText: (text, { label }) => (labels.includes(label) ? text.replace(/"v":1}$/, '"v":2}') : text),
});

/** Gives an event another type. */
const typed = (label: string, type: string): PackageHooks => event(label, (one) => Object.assign(one, { type }));

/** Shows a batch with a header of version 2, of which nothing but the number is known. */
const headerTwo = (number: number): PackageHooks => ({
  batchLines: (lines) => {
    Object.assign(lines[number] ?? {}, { header: `{"number":${number},"shape":"of a later version","v":2}` });
    return undefined;
  },
});

const withPolicy = (change: object): PackageHooks => ({
  world: ({ batches }) => {
    const policy = policyEvent(1, 2);
    Object.assign(policy.record, change);
    batches[0]?.push(policy);
  },
});

test.each<[string, string, PackageHooks]>([
  ['a record of a newer version', 'record.format', event('c0', record({ v: 3, mood: 'good' }))],
  ['a proof hash of a newer scheme', 'record.format', event('c0', record({ hash_version: 3 }))],
  ['a record with a file, of a newer version', 'record.format', event('c3', record({ v: 3 }))],
  ['an entry of a newer version', 'entry.format', versionTwo('c0')],
  ['an entry with a file, of a newer version', 'entry.format', versionTwo('c3')],
  ['several entries of a newer version', 'entry.format', versionTwo('c0', 'c1', 'c4', 'config')],
  ['a configuration of a newer version', 'entry.format', versionTwo('config')],
  ['a consent of a newer type', 'record.format', typed('c0', 'ConsentRecorded.v2')],
  ['an event of another type among the consents', 'record.format', typed('c0', 'ConsentTransferred.v1')],
  [
    'an event without a site',
    'record.format',
    event('c0', (one) => {
      one.type = 'LedgerNoted.v1';
      one.record = { mood: 'good' };
    }),
  ],
  ['a policy of a newer version', 'record.format', withPolicy({ v: 2 })],
  ['a batch header of a newer version', 'batch.header', headerTwo(2)],
  ['a first batch header of a newer version', 'batch.header', headerTwo(0)],
  ['a last batch header of a newer version', 'batch.header', headerTwo(4)],
])('leaves %s open', async (_, check, change) => {
  const report = await verifyFixture(authority, buildPackage(authority, change));
  const found = notPassed(report);
  expect(report.verdict).toBe('indeterminate');
  expect(found).toMatchObject({ [check]: 'indeterminate' });
  expect(Object.values(found)).not.toContain('fail');
  expect(report.checks.find(({ id }) => id === check)?.message).toMatch(
    /^this verifier does not know .+; use a newer one$/,
  );
});

test('no record is better than a policy of a newer version', async () => {
  const report = await verifyFixture(authority, buildPackage(authority, withPolicy({ v: 2 })));
  expect(report.records.verdicts).toMatchObject({ valid: 0 });
});

test('names an entry of a newer version by its place', async () => {
  const report = await verifyFixture(authority, buildPackage(authority, versionTwo('c0')));
  const { message, problems } = report.checks.find(({ id }) => id === 'entry.format') ?? {};
  expect(message).toBe('this verifier does not know version 2 of an entry; use a newer one');
  expect(problems).toMatchObject([{ stream: streamOf('c0'), revision: 0 }]);
});
