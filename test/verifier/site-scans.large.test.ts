import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SiteScannedRecord } from '../../schemas/events/site-scanned.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import { tr } from '../../verifier-cli/src/i18n/tr/index.js';
import {
  memorySource,
  RecordWatch,
  recordText,
  reportPage,
  terminalReport,
  verifyPackage,
} from '../../verifier-cli/src/index.js';
import { renderHtml } from '../../verifier-cli/src/rendering/markup.js';
import { MAX_SCANS } from '../../verifier-cli/src/report/report.js';
import { recordPage } from '../../verifier-cli/src/show/record-page.js';
import { fixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import { fixtureUuid } from '../support/ledger-fixture-events.js';
import { titleNeeding } from '../support/missing-tools.js';
import { hasOpenssl } from '../support/openssl-tsa.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { scanEvent, withScans } from '../support/scanned-fixture.js';
import { hasPython, verdictsOf, verifyByHand } from './by-hand.js';
import { notPassed, verifierKey, verifyFixture } from './support.js';

const authority = fixtureAuthority();
const EARLY = '2026-03-01T00:00:00.000Z';

/** The line of the scan, as the service would have sealed it with another finding. */
const altered: PackageHooks['entryLines'] = (lines) =>
  lines.map((line) => ({ ...line, entry: String(line.entry).replaceAll('"tracker"', '"session"') }));

const REFUSED: readonly (readonly [string, PackageHooks, string])[] = [
  [
    'that was altered after it was sealed',
    { ...withScans(scanEvent('s1', 42)), entryLines: altered },
    'entry.inclusion',
  ],
  ['that ends before it started', withScans(scanEvent('s1', 42, { ended_at: EARLY })), 'record.format'],
  [
    'that denies the signal instead of saying nothing',
    withScans(scanEvent('s1', 42, { signal: false })),
    'record.format',
  ],
  ['without a visit', withScans(scanEvent('s1', 42, { visits: [] })), 'record.format'],
  ['with a value of a cookie', withScans(scanEvent('s1', 42, { cookie_values: ['1'] })), 'record.format'],
  [
    'with a query in its address',
    withScans(scanEvent('s1', 42, { url: 'https://shop.example/?mail=ann' })),
    'record.format',
  ],
];

test('a package with recorded scans is valid, and its report describes them', async () => {
  const zip = buildPackage(
    authority,
    withScans(scanEvent('s1', 42), scanEvent('s2', 43, { site_config_hash: null, signal: true })),
  );
  const report = await verifyFixture(authority, zip);
  expect({ verdict: report.verdict, ...notPassed(report) }).toEqual({ verdict: 'valid' });
  expect(report.scans).toMatchObject({ count: 2, verdicts: { valid: 2, indeterminate: 0, invalid: 0 } });
  expect(report.scans.newest[0]).toMatchObject({
    event_id: fixtureUuid('s1'),
    verdict: 'valid',
    url: 'https://shop.example/',
    configuration: { number: 1 },
    problems: [
      { problem: 'undeclared', count: 2, first: ['tracker', 'cart'] },
      { problem: 'before_choice', count: 1, first: ['_visits'] },
      { problem: 'after_refusal', count: 0, first: [] },
    ],
    third_party_hosts: { count: 1, first: ['cdn.example'] },
    signal: false,
    is_whole: true,
  });
  expect(report.scans.newest[0]?.existed_by).toEqual(report.proved.not_after);
  expect(report.scans.newest[1]).toMatchObject({ event_id: fixtureUuid('s2'), configuration: null, signal: true });
  expect(report.proves.join()).toContain('2 scans of pages of the site, as the service recorded them');
  for (const [texts, words] of [
    [
      en,
      [
        'Scans of the site',
        'Not declared',
        '2: tracker, cart',
        'published configuration 1',
        'with the signal Global Privacy Control',
      ],
    ],
    [
      tr,
      [
        ...['Site taramaları', 'Bildirilmemiş', '2: tracker, cart', 'yayımlanan 1 numaralı yapılandırma'],
        'Global Privacy Control sinyaliyle',
      ],
    ],
  ] as const) {
    for (const printed of [terminalReport(report, texts), renderHtml(reportPage(report, texts))])
      for (const word of words) expect(printed).toContain(word);
  }
});

test('a scan is shown in words, as a consent is', async () => {
  const watch = RecordWatch.of(fixtureUuid('s1'));
  const source = memorySource(buildPackage(authority, withScans(scanEvent('s1', 42))));
  const trust = { trustAnchors: [authority.root.der], ledgerKeys: [verifierKey(LEDGER_KEY.verifierKey)] };
  await verifyPackage(source, { ...trust, at: VERIFIED_AT }, { watch });
  const shown = watch?.shown ?? null;
  if (shown === null) throw new Error('the scan is not in the package');
  expect(shown.scan).toMatchObject({ event_id: fixtureUuid('s1'), verdict: 'valid', configuration: { number: 1 } });
  for (const [texts, words] of [
    [en, ['What was recorded', 'https://shop.example/', '2: tracker, cart', 'published configuration 1']],
    [tr, ['Kaydedilen', 'Bildirilmemiş', '2: tracker, cart', 'yayımlanan 1 numaralı yapılandırma']],
  ] as const) {
    // Before the members of the record, which are as they stand in it.
    const text = recordText(shown, texts).split(texts.record.terminal.public)[0];
    const page = renderHtml(recordPage(shown, texts)).split('<details>')[0];
    for (const word of words)
      expect([text, page]).toEqual([expect.stringContaining(word), expect.stringContaining(word)]);
  }
});

test.each(REFUSED)('a package with a scan %s is invalid', async (_, hooks, check) => {
  const report = await verifyFixture(authority, buildPackage(authority, hooks));
  expect({ verdict: report.verdict, ...notPassed(report) }).toMatchObject({ verdict: 'invalid', [check]: 'fail' });
  expect(report.scans.verdicts.valid).toBe(0);
});

test('says nothing about a refusal after which the page was not visited', async () => {
  const { record } = scanEvent('s1', 42);
  const [first] = SiteScannedRecord.parse(record).visits;
  const zip = buildPackage(authority, withScans(scanEvent('s1', 42, { visits: [first ?? null] })));
  const printed = terminalReport(await verifyFixture(authority, zip), en);
  expect(printed).toContain('Set before a choice');
  expect(printed).not.toMatch(/Set after a refusal|was refused/);
});

test('a scan changes nothing that is in force', async () => {
  const early: PackageHooks = {
    world: ({ batches }) => void batches[0]?.push(scanEvent('s1', 3)),
  };
  const report = await verifyFixture(authority, buildPackage(authority, early));
  expect({ verdict: report.verdict, ...notPassed(report) }).toEqual({ verdict: 'valid' });
});

test('a scan of a later version stays open', async () => {
  const report = await verifyFixture(
    authority,
    buildPackage(authority, withScans({ ...scanEvent('s1', 42), type: 'SiteScanned.v2' })),
  );
  expect(report.verdict).toBe('indeterminate');
  expect(report.scans.count).toBe(0);
});

test('scans of a package that is not trusted are not called valid', async () => {
  const zip = buildPackage(authority, withScans(scanEvent('s1', 42)));
  const report = await verifyFixture(authority, zip, { ledgerKeys: [] });
  expect(report.scans.newest).toMatchObject([{ verdict: 'indeterminate', existed_by: null }]);
});

test('describes the newest of many scans, and counts the others', async () => {
  const scans = Array.from({ length: MAX_SCANS + 3 }, (_, n) => scanEvent(`s${n}`, 42));
  const report = await verifyFixture(authority, buildPackage(authority, withScans(...scans)));
  expect(report.scans.count).toBe(MAX_SCANS + 3);
  expect(report.scans.newest.map(({ event_id: id }) => id)).toEqual(scans.slice(3).map(({ eventId }) => eventId));
  expect(terminalReport(report, en)).toContain('does not describe 3 older scans');
});

describe.skipIf(!hasPython || !hasOpenssl)(
  titleNeeding('python3 or openssl', hasPython && hasOpenssl, 'the script reads packages with scans'),
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'scans-by-hand-'));
    const file = (name: string): string => join(folder, name);
    beforeAll(() => {
      const pem = authority.root.der;
      const lines = Buffer.from(pem)
        .toString('base64')
        .replaceAll(/(.{64})/g, '$1\n');
      writeFileSync(file('root.pem'), `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`);
      writeFileSync(file('ledger.key'), `${LEDGER_KEY.verifierKey}\n`);
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    test('with the same verdicts', () => {
      const cases = [['a whole one', withScans(scanEvent('s1', 42)), 'valid'] as const, ...REFUSED];
      const paths = cases.map(([, hooks], n) => {
        writeFileSync(file(`${n}.zip`), buildPackage(authority, hooks));
        return file(`${n}.zip`);
      });
      const { stdout, stderr } = verifyByHand(paths, VERIFIED_AT, file('ledger.key'), file('root.pem'));
      expect(stderr).toBe('');
      expect(verdictsOf(stdout), stdout).toEqual(['valid', ...REFUSED.map(() => 'invalid')]);
    });
  },
);
