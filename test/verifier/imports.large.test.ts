import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import {
  htmlPage,
  memorySource,
  RecordWatch,
  recordText,
  reportPage,
  type ShownRecord,
  terminalReport,
  verifyPackage,
} from '../../verifier-cli/src/index.js';
import { ConsentList } from '../../verifier-cli/src/list/consent-list.js';
import { consentsCsv } from '../../verifier-cli/src/list/consents-csv.js';
import { consentsText } from '../../verifier-cli/src/list/consents-text.js';
import type { ListedConsent } from '../../verifier-cli/src/list/listed-consent.js';
import { withSuccessors } from '../../verifier-cli/src/list/successors.js';
import { recordPage } from '../../verifier-cli/src/show/record-page.js';
import { shownConsent } from '../../verifier-cli/src/show/shown-consent.js';
import { consentDocument } from '../../verifier-cli/src/ts27560/consent-record.js';
import { pem } from '../support/pem.js';
import { hasPython, verdictOf, verifyByHand } from './by-hand.js';
import { asImport, importOf } from './dishonest-operator/forged-imports.js';
import { makeLedger } from './dishonest-operator/ledger.js';
import { receiptOf } from './dishonest-operator/receipt.js';
import { TimeAuthority } from './dishonest-operator/time-authority.js';
import { honestPackage, notPassed, VERIFIED_AT, verify } from './dishonest-operator/verification.js';
import { consentId, eventOf, makePlan, WORLDS } from './dishonest-operator/world.js';

/* The ledger is written by code that shares none with the service and the verifier. */

const authority = new TimeAuthority();
const folder = mkdtempSync(join(tmpdir(), 'imports-'));
afterAll(() => rmSync(folder, { recursive: true }));

const plan = makePlan(WORLDS.small);
for (const label of ['alice 2', 'bob 2']) asImport(plan, label);
const ledger = makeLedger(plan, authority);
const whole = honestPackage(ledger, { disclose: 'all' });
const trust = { trustAnchors: [authority.anchor], ledgerKeys: [plan.keys.first], at: VERIFIED_AT };
const STATED = 'imported from Former tool: stated by the former tool, sealed on';

async function shown(zip: Uint8Array): Promise<ShownRecord> {
  const watch = RecordWatch.of(consentId('alice 2'));
  if (watch === null) throw new Error('the id is not one');
  await verifyPackage(memorySource(zip), trust, { watch, list: new ConsentList(100) });
  if (watch.shown === null) throw new Error('the package does not have the record');
  return watch.shown;
}

describe('a package with imported consents', () => {
  test.each([
    ['of the site', whole],
    ['of a person', honestPackage(ledger, { person: 'alice', disclose: 'all' })],
    ['of one record, as a receipt', receiptOf(ledger, 'alice 2')],
  ])('%s is valid, and says that they are imported', async (_, zip) => {
    const report = await verify(zip, plan, authority);
    expect(notPassed(report)).toEqual({});
    expect(report.verdict).toBe('valid');
    expect(terminalReport(report, en)).toContain('imported: Former tool stated this');
    expect(terminalReport(report, en)).toMatch(/[12] imported, as a former tool stated/);
    expect(terminalReport(report, en)).toMatch(/When and how the persons of [12] imported consents? decided/);
    expect(htmlPage('', 'en', reportPage(report, en))).toContain('imported: Former tool stated this');
  });

  test.skipIf(!hasPython)('is valid for the verifier in Python', () => {
    writeFileSync(join(folder, 'package.zip'), whole);
    writeFileSync(join(folder, 'ledger.key'), `${plan.keys.first.line}\n`);
    writeFileSync(join(folder, 'root.pem'), pem('CERTIFICATE', authority.anchor));
    const [file = '', key = '', root = ''] = ['package.zip', 'ledger.key', 'root.pem'].map((name) =>
      join(folder, name),
    );
    const { stdout, stderr } = verifyByHand([file], VERIFIED_AT, key, root);
    expect({ stderr, verdict: verdictOf(stdout) }).toEqual({ stderr: '', verdict: 'valid' });
  });

  test('names the imports that claim a time before the text was published, beyond what clocks may differ', async () => {
    const published = Date.parse(String(eventOf(plan, 'published 1').record.created_at));
    const named = async (claimed: number): Promise<unknown> => {
      const other = makePlan(WORLDS.small);
      Object.assign(importOf(asImport(other, 'alice 2')), { claimed_at: new Date(claimed).toISOString() });
      const report = await verify(honestPackage(makeLedger(other, authority), {}), other, authority);
      expect(report.verdict).toBe('valid');
      return report.warnings.first.filter(({ code }) => code === 'import-before-text').map(({ message }) => message);
    };
    expect(await named(published - 300_000)).toEqual([]);
    expect(await named(published - 300_001)).toEqual([
      '1 imported record claims a time before the text was published in this ledger, which only the former tool says was the text shown',
    ]);
  });

  test('shows an imported consent as stated by the former tool, in text and on the page', async () => {
    const record = await shown(whole);
    expect(record.verdict).toBe('valid');
    expect(recordText(record, en)).toContain(STATED);
    expect(recordText(record, en)).toContain('What a former tool stated');
    expect(recordText(record, en)).not.toContain('What was recorded');
    expect(htmlPage('', 'en', recordPage(record, en))).toContain(STATED);
  });

  test('makes a consent record of ISO/IEC TS 27560 with the time and the source of the former tool', async () => {
    const record = await shown(whole);
    const { configuration } = record;
    const consent = shownConsent(record);
    if (configuration === null || consent === null) throw new Error('the record cannot be read');
    const text = JSON.stringify(consentDocument({ shown: record, record: consent, configuration }));
    expect(text).toContain('It was imported: Former tool stated it');
    expect(text).toContain('"dpv:hasIndicationMethod":"import"');
  });

  test('lists imported consents with the tool and the claimed time', async () => {
    const list = new ConsentList(100);
    await verifyPackage(memorySource(whole), trust, { list });
    const { listing } = list;
    const found = listing.consents.filter(({ imported }) => imported !== null);
    expect(found.map(({ imported }) => imported?.from)).toEqual(['Former tool', 'Former tool']);
    expect(consentsText(listing.consents, listing, false, en)).toContain('(imported from Former tool)');
    expect(consentsCsv(found, false)).toContain(`"Former tool","${found[0]?.imported?.claimed_at}"`);
  });
});

describe('the order of imported consents', () => {
  const one = (id: string, imported: ListedConsent['imported'], decision = 'accepted'): ListedConsent => ({
    line: 1,
    event_id: id,
    consent_token: id,
    stream: 's',
    revision: 0,
    verdict: 'valid',
    recorded_at: '2026-01-05T00:00:00.000Z',
    existed_by: null,
    imported,
    consent_type: 'cookie',
    decision,
    scope: 'device',
    document_version_id: null,
    language: null,
    text: null,
    disclosed: {},
    erased: false,
    erasure_verdict: null,
    superseded_by: null,
  });
  const at = (day: number): ListedConsent['imported'] => ({ from: 'T', claimed_at: `2026-01-0${day}T00:00:00.000Z` });
  const next = (consents: readonly ListedConsent[]): (string | null)[] =>
    withSuccessors(consents, true).map(({ superseded_by: found }) => found?.event_id ?? null);

  test('an import never supersedes a consent that was recorded here, whenever it was sealed or claims to be given', () => {
    expect(next([one('recorded', null, 'withdrawn'), one('import', at(9))])).toEqual([null, 'recorded']);
    expect(next([one('import', at(1)), one('recorded', null)])).toEqual(['recorded', null]);
  });

  test('imports of one person follow each other by their claimed times', () => {
    expect(next([one('late', at(3)), one('early', at(1)), one('middle', at(2))])).toEqual([null, 'middle', 'late']);
    expect(next([one('late', at(3)), one('early', at(1)), one('recorded', null)])).toEqual(['recorded', 'late', null]);
  });
});
