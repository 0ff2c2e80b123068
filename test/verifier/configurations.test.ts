import { expect, test } from 'vitest';
import { sha256Hex } from '../../schemas/crypto/digest.js';
import { utf8 } from '../../schemas/crypto/encoding.js';
import { SITE_CONFIG_PUBLISHED, SITE_CONFIG_PUBLISHED_V1 } from '../../schemas/events/site-config.js';
import { PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import type { JsonObject } from '../../schemas/json/json-value.js';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { notPassed, verifyFixture } from './support.js';

const authority = fixtureAuthority();

/**
 * A package whose consents name a configuration that was published by an event of this type, with
 * these members beside those of the first version.
 */
function publishedAs(type: string, members: JsonObject): PackageHooks {
  const hashes = { before: '', after: '' };
  let text = '';
  return {
    world: ({ batches }) => {
      const events = batches.flat();
      const config = events.find(({ label }) => label === 'config');
      if (config === undefined) throw new Error('the fixture has no configuration');
      hashes.before = sha256Hex(canonicalJson(config.record));
      config.type = type;
      config.record = { ...config.record, ...members };
      text = canonicalJson(config.record);
      hashes.after = sha256Hex(text);
      for (const event of events) {
        if (event.record.site_config_hash !== hashes.before) continue;
        event.record = { ...event.record, site_config_hash: hashes.after };
      }
    },
    files: (files) => {
      files.delete(PACKAGE_FILES.notice(hashes.before));
      files.set(PACKAGE_FILES.notice(hashes.after), utf8(text));
    },
  };
}

const cookie = {
  name: '_visits',
  provider: 'Örnek A.Ş.',
  category: 'analytics',
  party: 'first',
  duration_seconds: null,
  purpose: { en: 'Counts', tr: 'Sayar' },
};
const verdictOf = async (type: string, members: JsonObject) => {
  const report = await verifyFixture(authority, buildPackage(authority, publishedAs(type, members)));
  return { verdict: report.verdict, ...notPassed(report) };
};

test('a configuration of the second version lists the cookies of each category', async () => {
  expect(await verdictOf(SITE_CONFIG_PUBLISHED, { v: 2, cookies: [cookie] })).toEqual({ verdict: 'valid' });
  expect(await verdictOf(SITE_CONFIG_PUBLISHED, { v: 2, cookies: [] })).toEqual({ verdict: 'valid' });
});

test('a configuration of the first version is what it was: without cookies', async () => {
  expect(await verdictOf(SITE_CONFIG_PUBLISHED_V1, {})).toEqual({ verdict: 'valid' });
  expect(await verdictOf(SITE_CONFIG_PUBLISHED_V1, { cookies: [cookie] })).toMatchObject({ 'record.format': 'fail' });
});

test.each([
  ['without cookies', { v: 2 }],
  ['with the number of the first', { cookies: [cookie] }],
  ['with a cookie of no category', { v: 2, cookies: [{ ...cookie, category: 'nowhere' }] }],
  ['with a cookie twice', { v: 2, cookies: [cookie, cookie] }],
  ['with an unknown member', { v: 2, cookies: [{ ...cookie, id: '1' }] }],
])('a configuration of the second version %s is refused', async (_, members) => {
  expect(await verdictOf(SITE_CONFIG_PUBLISHED, members)).toMatchObject({
    verdict: 'invalid',
    'record.format': 'fail',
  });
});

test('consents that name a configuration of a later version stay open: it is no forgery', async () => {
  expect(await verdictOf('SiteConfigPublished.v3', { v: 3, cookies: [], sounds: [] })).toEqual({
    verdict: 'indeterminate',
    'record.format': 'indeterminate',
    'document.configuration': 'indeterminate',
  });
});
