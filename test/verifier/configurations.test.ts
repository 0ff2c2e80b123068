import { expect, test } from 'vitest';
import { SITE_CONFIG_PUBLISHED } from '../../schemas/events/site-config.js';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { buildPackage } from '../support/package-builder.js';
import { type Members, publishedAs } from './published-as.js';
import { notPassed, verifyFixture } from './support.js';

const authority = fixtureAuthority();

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

const rule = { id: 'britain', places: ['GB'], categories: { analytics: { rule: 'opt_in' } } };

test('accepts rules and the period of a refusal', async () => {
  const exempt = { rule: 'exempt', exception: 'appearance', ground: { en: 'Why' }, processor: 'Counter Ltd.' };
  const rules = [rule, { id: 'europe', frameworks: ['gdpr'], categories: { analytics: exempt } }];
  expect(await verdictOf(SITE_CONFIG_PUBLISHED, { rules, refusal_days: null })).toEqual({ verdict: 'valid' });
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
  ['with two rules of one id', { rules: [rule, { ...rule, places: ['CH'] }] }],
  ['with a rule for no place', { rules: [{ id: 'r', places: [], categories: {} }] }],
  ['with a rule for the framework none', { rules: [{ ...rule, frameworks: ['none'] }] }],
  ['with an unknown rule', { rules: [{ ...rule, categories: { analytics: { rule: 'never' } } }] }],
  ['with refusals of no period', { refusal_days: 0 }],
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
