import { expect, test } from 'vitest';
import { utf8 } from '../../schemas/crypto/encoding.js';
import { UnknownFormatVersion } from '../../verifier-cli/src/index.js';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { event, record } from './attacks/attack.js';
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

test.each([
  ['a record of a newer version', record({ v: 2, mood: 'good' })],
  ['a proof hash of a newer scheme', record({ hash_version: 3 })],
])('leaves %s open', async (_, change) => {
  expect(await verdictOf(event('c0', change))).toMatchObject({
    verdict: 'indeterminate',
    'record.format': 'indeterminate',
  });
  expect(Object.values(await verdictOf(event('c0', change)))).not.toContain('fail');
});
