import { expect, test } from 'vitest';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import type { Texts } from '../../verifier-cli/src/i18n/texts.js';
import { tr } from '../../verifier-cli/src/i18n/tr/index.js';
import { memorySource, RecordWatch, verifyPackage } from '../../verifier-cli/src/index.js';
import { ConsentList } from '../../verifier-cli/src/list/consent-list.js';
import { renderHtml } from '../../verifier-cli/src/rendering/markup.js';
import { type CertificateFacts, certificatePage } from '../../verifier-cli/src/show/certificate-page.js';
import { recordPage } from '../../verifier-cli/src/show/record-page.js';
import type { ShownRecord } from '../../verifier-cli/src/show/shown-record.js';
import { fixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import { fixtureUuid } from '../support/ledger-fixture-events.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { verifierKey } from './support.js';

const authority = fixtureAuthority();
const OF_READER: CertificateFacts = {
  file: 'evidence.zip',
  fileSha256: 'ab'.repeat(32),
  verifier: { kind: 'command', sha256: 'cd'.repeat(32) },
  trust: 'reader',
};

async function shown(label: string, hooks: PackageHooks = {}, isRootGiven = true): Promise<ShownRecord> {
  const watch = RecordWatch.of(fixtureUuid(label));
  const trust = {
    trustAnchors: isRootGiven ? [authority.root.der] : [],
    ledgerKeys: [verifierKey(LEDGER_KEY.verifierKey)],
  };
  const collectors = { watch, list: new ConsentList(100) };
  await verifyPackage(memorySource(buildPackage(authority, hooks)), { ...trust, at: VERIFIED_AT }, collectors);
  if (!watch?.shown) throw new Error(`no record ${label}`);
  return watch.shown;
}

function pageOf(record: ShownRecord, about: Partial<CertificateFacts> = {}, texts: Texts = en): string {
  const page = certificatePage(record, { ...OF_READER, ...about }, texts);
  if (page === null) throw new Error('there is no certificate of it');
  return renderHtml(page);
}

const changed: PackageHooks = {
  entryLines: (lines) =>
    lines.map((line) => ({
      ...line,
      entry: String(line.entry).replace('"decision":"rejected"', '"decision":"accepted"'),
    })),
};

test('states who, what and when, what that rests on and what it does not prove, and how the file is checked', async () => {
  const page = pageOf(await shown('c2'));
  for (const text of [
    'Certificate of a consent record',
    'Proved: this record is in the ledger, unchanged',
    'visitor id visitor of c2',
    '1 March 2026, 10:19 UTC',
    'No part of the record was changed since',
    'It does not prove who used the device',
    'This paper proves nothing by itself.',
    'evidence.zip',
    OF_READER.fileSha256,
    'cd'.repeat(32),
    'consent-verify.digests.txt',
    'Signature',
  ])
    expect(page).toContain(text);
  expect(page).not.toContain('INVALID');
  expect(pageOf(await shown('c2'), {}, tr)).toContain('Bu kâğıt tek başına hiçbir şey kanıtlamaz.');
});

test('says of each fact no more than the page of the record says', async () => {
  for (const label of ['c1', 'c2', 'c3']) {
    const record = await shown(label);
    const full = renderHtml(recordPage(record, en));
    const rows = [...pageOf(record).matchAll(/<dt>.*?<\/dt><dd>.*?<\/dd>/g)].map(([row]) => row);
    expect(rows.length).toBeGreaterThan(5);
    for (const row of rows) expect(full).toContain(row);
  }
});

test('of a forged record, says INVALID across the sheet and proves nothing', async () => {
  const forged = await shown('c2', changed);
  expect(forged.verdict).toBe('invalid');
  const page = pageOf(forged);
  expect(page).toContain('<p class="across" aria-hidden="true">INVALID</p>');
  expect(page).toContain('nothing on this page is proved');
  expect(page).not.toMatch(/proves that the record existed|was changed since|signed root/);
  expect(pageOf(forged, { trust: 'operator' })).not.toContain('Consistent');
  // A sound record in a file of which another part fails: the reader has only this sheet.
  expect(pageOf({ ...(await shown('c2')), package_verdict: 'invalid' })).toContain('>INVALID<');
});

test('of a record that is not decided or stamped by a development authority, claims no proof', async () => {
  const open = await shown('c2', {}, false);
  expect(open.verdict).toBe('indeterminate');
  expect(pageOf(open)).toContain('these could not be decided, so it is not proved');
  expect(pageOf(open)).not.toContain('proves that');
  const development = pageOf({ ...(await shown('c2')), development: true });
  expect(development).toContain('Valid, but not evidence');
  expect(development).not.toContain('proves that');
});

test('with the key and roots that the operator publishes, is consistent, and never valid or proved', async () => {
  const page = pageOf(await shown('c2'), { trust: 'operator' });
  expect(page).toContain('Consistent with what the operator publishes');
  expect(page).toContain('By the root certificate that the operator publishes');
  expect(page).not.toMatch(/<strong>Valid|proves that the record/);
});

test('names nobody where the person is erased, withheld or, in a receipt, never stated', async () => {
  expect(pageOf(await shown('c1'))).toMatch(/<dt>By<\/dt><dd><bdi>erased/);
  const hidden = { ...(await shown('c2')), disclosed: [], withheld: 3 };
  expect(pageOf(hidden)).toContain('<dt>By</dt><dd><bdi>not disclosed in this file</bdi></dd>');
  const receipt = { ...hidden, file: { kind: 'receipt', exported_at: null } } as const;
  expect(pageOf(receipt)).toContain('<dt>By</dt><dd><bdi>not stated in public receipts</bdi></dd>');
});

test('the latest state stands before everything that a person could write', async () => {
  const names = [...pageOf(await shown('c1')).matchAll(/<dt>(.*?)<\/dt>/g)].map(([, name]) => name);
  expect(names.slice(0, 2)).toEqual(['Decision', 'Afterwards']);
});

test('no text of a record can move, hide or repeat another: it is escaped, isolated, on one line and cut', async () => {
  const record = await shown('c2');
  const hostile = `</dd><h1>Valid</h1><style>*{display:none}</style>\n\n\u202eevil${'W'.repeat(5_000)}`;
  const page = pageOf({
    ...record,
    disclosed: [{ name: 'signer_name', value: hostile }],
    text: record.text && { ...record.text, title: hostile, source: hostile },
  });
  expect(page).not.toMatch(/<style>|<h1>Valid|\u202e|\n/u);
  expect(page).toContain('\\u{202e}');
  expect(page.match(/shortened: the whole text is in the file/g)).toHaveLength(3);
  expect(page.length).toBeLessThan(12_000);
  expect(pageOf(record, { file: `${'x'.repeat(300)}<b>.zip` })).not.toMatch(/x{100}|<b>/);
  expect(pageOf(record, { file: 'evil\u202epiz.zip' })).toContain('evil\\u{202e}piz.zip');
});

test('there is no certificate of an event that is no consent', async () => {
  const record = await shown('c2');
  expect(certificatePage({ ...record, type: 'SubjectErased', consent_token: null }, OF_READER, en)).toBeNull();
});
