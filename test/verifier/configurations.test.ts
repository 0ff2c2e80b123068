import { expect, test } from 'vitest';
import { sha256Hex } from '../../schemas/crypto/digest.js';
import { utf8 } from '../../schemas/crypto/encoding.js';
import { SITE_CONFIG_PUBLISHED } from '../../schemas/events/site-config.js';
import { PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import type { JsonObject, JsonValue } from '../../schemas/json/json-value.js';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { notPassed, verifyFixture } from './support.js';

const authority = fixtureAuthority();

type Members = Readonly<Record<string, JsonValue | undefined>>;

function withMembers(record: JsonObject, members: Members): JsonObject {
  const changed: JsonObject = {};
  for (const [name, value] of Object.entries({ ...record, ...members })) if (value !== undefined) changed[name] = value;
  return changed;
}

/**
 * A package whose consents name a configuration that was published by an event of this type, with these members in place
 * of the fixture's; `undefined` leaves a member out.
 */
function publishedAs(type: string, members: Members): PackageHooks {
  const hashes = { before: '', after: '' };
  let text = '';
  return {
    world: ({ batches }) => {
      const events = batches.flat();
      const config = events.find(({ label }) => label === 'config');
      if (config === undefined) throw new Error('the fixture has no configuration');
      hashes.before = sha256Hex(canonicalJson(config.record));
      config.type = type;
      config.record = withMembers(config.record, members);
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
const verdictOf = async (type: string, members: Members) => {
  const report = await verifyFixture(authority, buildPackage(authority, publishedAs(type, members)));
  return { verdict: report.verdict, ...notPassed(report) };
};

test('accepts a configuration with cookies, and one without any', async () => {
  expect(await verdictOf(SITE_CONFIG_PUBLISHED, { cookies: [cookie] })).toEqual({ verdict: 'valid' });
  expect(await verdictOf(SITE_CONFIG_PUBLISHED, { cookies: [] })).toEqual({ verdict: 'valid' });
});

test('the verdict does not depend on the time zone, known or not', async () => {
  for (const zone of ['Europe/Istanbul', 'Mars/Olympus', 'Etc/GMT+5'])
    expect(await verdictOf(SITE_CONFIG_PUBLISHED, { time_zone: zone }), zone).toEqual({ verdict: 'valid' });
});

test('accepts an address for withdrawals on the domain and below it', async () => {
  for (const url of ['https://shop.example', 'https://my.shop.example/choices?a=b#c'])
    expect(await verdictOf(SITE_CONFIG_PUBLISHED, { withdrawal_url: url }), url).toEqual({ verdict: 'valid' });
});

test.each([
  ['with an address for withdrawals elsewhere', { withdrawal_url: 'https://evil.example/shop.example' }],
  ['with an address for withdrawals that is a script', { withdrawal_url: 'javascript:alert(1)' }],
  ['with a zone that is no name', { time_zone: '+03:00' }],
  ['with a zone in two lines', { time_zone: 'Europe/Istanbul\n' }],
  ['with a zone of null', { time_zone: null }],
  ['without a list of cookies', { cookies: undefined }],
  ['with a cookie of no category', { cookies: [{ ...cookie, category: 'nowhere' }] }],
  ['with a cookie twice', { cookies: [cookie, cookie] }],
  ['with an unknown member', { cookies: [{ ...cookie, id: '1' }] }],
])('refuses a configuration %s', async (_, members) => {
  expect(await verdictOf(SITE_CONFIG_PUBLISHED, members)).toMatchObject({
    verdict: 'invalid',
    'record.format': 'fail',
  });
});

test('leaves consents open that name a configuration of a later version: it is no forgery', async () => {
  expect(await verdictOf('SiteConfigPublished.v2', { v: 2, sounds: [] })).toEqual({
    verdict: 'indeterminate',
    'record.format': 'indeterminate',
    'document.configuration': 'indeterminate',
    'document.in-force': 'indeterminate',
  });
});
