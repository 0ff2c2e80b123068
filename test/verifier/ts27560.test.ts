import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { runShow } from '../../verifier-cli/src/cli/show-command.js';
import { UsageError } from '../../verifier-cli/src/cli/usage-error.js';
import { CLASSES, CONTEXT, PROFILES, PROPERTIES } from '../../verifier-cli/src/ts27560/terms.js';
import { makeLedger, type Plan } from './dishonest-operator/ledger.js';
import type { JsonRecord } from './dishonest-operator/primitives.js';
import { receiptOf } from './dishonest-operator/receipt.js';
import { TimeAuthority } from './dishonest-operator/time-authority.js';
import { honestPackage } from './dishonest-operator/verification.js';
import {
  changeConfiguration,
  commit,
  consentId,
  eventOf,
  makePlan,
  SITE,
  value,
  WORLDS,
} from './dishonest-operator/world.js';

const authority = new TimeAuthority();
const AT = '2026-03-05T08:00:00Z';

/** One category with everything that a configuration can state of it, and one with nothing. */
const CATEGORIES: JsonRecord[] = [
  {
    key: 'analytics',
    required: false,
    title: { en: 'Analytics', tr: 'Analiz' },
    purpose: { en: 'We count visits.', tr: 'Ziyaretleri sayarız.' },
    lawful_basis: 'consent',
    personal_data: ['IP address', 'pages visited'],
    recipients: ['Counter Ltd'],
    retention_days: 30,
  },
  {
    key: 'ads',
    required: false,
    title: { en: 'Ads' },
    purpose: { en: 'We show ads.' },
    lawful_basis: 'legitimate_interest',
    personal_data: [],
    recipients: [],
    retention_days: null,
  },
];
const COOKIE = { name: '_c', provider: 'Third GmbH', category: 'analytics', party: 'third', duration_seconds: 60 };

function planned(): Plan {
  const plan = makePlan(WORLDS.small);
  changeConfiguration(plan, 'configuration 1', {
    categories: CATEGORIES,
    cookies: [{ ...COOKIE, purpose: { en: 'Counts' } }],
    withdrawal: { en: 'Use the button.', tr: 'Düğmeyi kullanın.' },
  });
  eventOf(plan, 'alice 2').record.categories = { analytics: true, ads: false };
  const first = eventOf(plan, 'alice 1');
  first.values = [...first.values, value('alice 1', 'source', 'banner')];
  commit(first);
  eventOf(plan, 'nobody 1').values = [];
  commit(eventOf(plan, 'nobody 1'));
  Object.assign(eventOf(plan, 'bob 3').record, {
    ...{ consent_type: 'objection', decision: 'rejected', categories: { analytics: false }, services: null },
    ...{ valid_until: null, ask_again_at: null },
  });
  eventOf(plan, 'carol 2').record.categories = null;
  return plan;
}
const ledger = makeLedger(planned(), authority);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ts27560-'));
  writeFileSync(join(folder, 'root.der'), authority.anchor);
  writeFileSync(join(folder, 'ledger.vkey'), ledger.plan.keys.first.line);
  writeFileSync(join(folder, 'whole.zip'), honestPackage(ledger, {}));
  writeFileSync(join(folder, 'none.zip'), honestPackage(ledger, { disclose: 'none' }));
  for (const label of ['alice 1', 'alice 2']) writeFileSync(join(folder, `${label}.json`), receiptOf(ledger, label));
  writeFileSync(join(folder, 'public.json'), receiptOf(ledger, 'alice 1', { disclose: 'none' }));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function show(file: string, label: string, options: object = {}): Promise<unknown> {
  let text = '';
  const output = {
    out: (part: string) => {
      text += part;
    },
    progress: { isTTY: false, write: () => true },
    warn: () => undefined,
  };
  const trust = {
    tsaCa: [join(folder, 'root.der')],
    ledgerKey: [join(folder, 'ledger.vkey')],
    requireStamps: '1',
    language: 'en',
    at: AT,
  };
  await runShow(join(folder, file), consentId(label), { ...trust, format: 'ts27560', ...options }, output);
  return JSON.parse(text);
}

// JSON-LD 1.1 expansion, as far as a context of prefixes without terms needs it. Nothing is fetched.

const KNOWN: ReadonlySet<string> = new Set([...CLASSES, ...PROPERTIES]);
const IS_PROPERTY: ReadonlySet<string> = new Set(PROPERTIES);

function iriOf(text: string, isTerm: boolean): string {
  const [, prefix = '', name = ''] = /^([a-z]+):(?!\/\/)(.+)$/.exec(text) ?? [];
  const base = Object.entries(CONTEXT).find(([known]) => known === prefix)?.[1];
  if (base === undefined) {
    expect(isTerm, `${text} has no prefix of the context`).toBe(false);
    return text;
  }
  expect(KNOWN, text).toContain(text);
  return `${base}${name}`;
}

function expand(node: unknown): unknown {
  if (Array.isArray(node)) return node.flatMap(expand);
  if (node === null || typeof node !== 'object') return { '@value': node };
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, content]): [string, unknown][] => {
      if (key === '@context') return [];
      if (key === '@type') return [[key, iriOf(z.string().parse(content), true)]];
      if (key === '@id') return [[key, iriOf(z.string().parse(content), false)]];
      if (key === '@value' || key === '@language') return [[key, content]];
      expect(IS_PROPERTY, key).toContain(key);
      return [[iriOf(key, true), [expand(content)].flat()]];
    }),
  );
}

// The mandatory fields of ISO/IEC TS 27560:2023, as the guide of the vocabulary maps them.

const dpv = (name: string): string => `https://w3id.org/dpv#${name}`;
const dct = (name: string): string => `http://purl.org/dc/terms/${name}`;
const many = <T extends z.ZodType>(schema: T) => z.array(schema).min(1);
const Text = z.object({ '@value': z.string().min(1) });
const Time = z.object({ '@type': z.literal('http://www.w3.org/2001/XMLSchema#dateTime'), '@value': z.iso.datetime() });
const Unavailable = z.object({
  '@type': z.string(),
  [dpv('hasApplicability')]: z.tuple([z.object({ '@id': z.literal(dpv('NotAvailable')) })]),
  [dct('description')]: many(Text),
});
const orNone = <T extends z.ZodType>(schema: T) => z.union([Unavailable, schema]);
const node = (type: string, shape: z.ZodRawShape = {}) => z.looseObject({ '@type': z.literal(dpv(type)), ...shape });
const oneOf = (types: readonly string[], shape: z.ZodRawShape) =>
  z.looseObject({ '@type': z.enum(types.map(dpv)), ...shape });

const ConsentRecord27560 = node('ConsentRecord', {
  [dct('conformsTo')]: z.tuple([z.object({ '@id': z.literal(PROFILES.record) })]),
  [dct('identifier')]: z.tuple([Text]),
  [dct('language')]: many(Text),
  [dct('provenance')]: many(z.looseObject({ [dct('title')]: many(Text) })),
  [dpv('hasDataSubject')]: z.tuple([orNone(node('DataSubject', { [dct('identifier')]: many(Text) }))]),
  [dpv('hasNotice')]: many(node('ConsentNotice', { [dct('identifier')]: many(Text), [dct('language')]: many(Text) })),
  [dpv('hasDataController')]: many(
    node('DataController', {
      [dpv('hasIdentifier')]: many(Text),
      [dpv('hasName')]: many(Text),
      [dpv('hasContact')]: many(Text),
      [dpv('hasAddress')]: many(orNone(Text)),
    }),
  ),
  [dpv('hasProcess')]: many(
    node('Process', {
      [dpv('hasPurpose')]: many(orNone(node('Purpose', { [dct('description')]: many(Text) }))),
      [dpv('hasPersonalData')]: many(
        orNone(
          node('PersonalData', {
            'http://www.w3.org/2004/02/skos/core#broader': many(z.object({ '@id': z.string() })),
          }),
        ),
      ),
      [dpv('hasStorageCondition')]: z
        .array(z.union([Unavailable, node('StorageDuration'), node('StorageLocation')]))
        .length(2),
      [dpv('hasRecipient')]: many(orNone(node('ThirdParty', { [dpv('hasName')]: many(Text) }))),
    }),
  ),
  [dpv('hasLegalBasis')]: many(orNone(node('Consent'))),
  [dpv('hasConsentControl')]: many(node('WithdrawConsent', { [dct('description')]: many(Text) })),
  [dpv('hasJurisdiction')]: many(orNone(node('Jurisdiction'))),
  [dpv('hasConsentStatus')]: many(
    oneOf(['ConsentGiven', 'ConsentRefused', 'ConsentWithdrawn'], {
      [dpv('isIndicatedAtTime')]: z.tuple([Time]),
      [dpv('isIndicatedBy')]: many(z.object({ '@id': z.string() })),
      [dpv('hasDuration')]: many(oneOf(['UntilTimeDuration', 'EndlessDuration'], {})),
    }),
  ),
});
const Receipt27560 = node('ConsentReceipt', {
  [dct('conformsTo')]: z.tuple([z.object({ '@id': z.literal(PROFILES.receipt) })]),
  [dct('identifier')]: z.tuple([Text]),
  [dct('created')]: z.tuple([Time]),
  [dpv('hasRecordOfActivity')]: z.tuple([ConsentRecord27560]),
});

const LABELS = ['alice 1', 'nobody 1', 'bob 1', 'carol 1', 'carol 2', 'alice 2', 'bob 2', 'alice 4'];

describe('a consent record of ISO/IEC TS 27560', () => {
  test.each(LABELS)('of %s has every mandatory field, in terms of the vocabulary', async (label) => {
    for (const file of ['whole.zip', 'none.zip']) {
      const document = await show(file, label);
      expect(document).toMatchObject({ '@context': CONTEXT, 'dct:identifier': consentId(label) });
      ConsentRecord27560.parse(expand(document));
    }
  });

  test.each(['alice 1.json', 'public.json'])('of the receipt %s is in a consent receipt', async (file) => {
    const document = await show(file, 'alice 1');
    Receipt27560.parse(expand(document));
    expect(document).toMatchObject({ 'dct:identifier': expect.stringMatching(/^ct_/) });
  });

  test('has the values of the evidence', async () => {
    expect(await show('alice 1.json', 'alice 1')).toMatchObject({
      'dpv:hasRecordOfActivity': {
        'dpv:hasDataSubject': { 'dct:identifier': 'alice' },
        'dpv:hasDataController': { 'dpv:hasName': 'Shop Ltd', 'dpv:hasContact': 'privacy@shop.example' },
        'dpv:hasApplicableLaw': { 'dct:identifier': 'gdpr' },
        'dpv:hasConsentControl': {
          'dct:description': [{ '@language': 'en', '@value': 'Use the button.' }, { '@language': 'tr' }],
        },
        'dct:provenance': { 'dct:title': 'verdict: valid' },
        'dpv:hasNotice': [
          { 'dct:identifier': eventOf(ledger.plan, 'alice 1').record.document_version_id, 'dct:language': 'en' },
          { 'schema:sha256': eventOf(ledger.plan, 'alice 1').record.site_config_hash },
        ],
        'dpv:hasProcess': [
          {
            'dct:identifier': 'analytics',
            'dpv:hasPurpose': { 'dct:description': [{ '@language': 'en', '@value': 'We count visits.' }, {}] },
            'dpv:hasPersonalData': [{ 'dct:title': 'IP address' }, { 'dct:title': 'pages visited' }],
            'dpv:hasStorageCondition': [{ 'dpv:hasDuration': { 'rdf:value': 'P30D' } }, {}],
            'dpv:hasRecipient': [{ 'dpv:hasName': 'Counter Ltd' }, { 'dpv:hasName': 'Third GmbH' }],
          },
        ],
      },
    });
    expect(await show('whole.zip', 'alice 1')).toMatchObject({
      'dpv:hasConsentStatus': [{ '@type': 'dpv:ConsentGiven', 'dpv:hasIndicationMethod': 'browser, banner' }],
    });
  });

  test('names a person whose identifier is not shown by the tag of the record, or not at all', async () => {
    const tag = expect.stringMatching(/^[0-9a-f]{64}$/);
    const withheld = { 'dct:identifier': tag, 'dct:description': expect.stringContaining('withheld') };
    expect(await show('none.zip', 'alice 1')).toMatchObject({ 'dpv:hasDataSubject': withheld });
    const erased = { 'dct:identifier': tag, 'dct:description': expect.stringContaining('erased') };
    expect(await show('whole.zip', 'carol 1')).toMatchObject({ 'dpv:hasDataSubject': erased });
    const none = { 'dpv:hasApplicability': { '@id': 'dpv:NotAvailable' } };
    expect(await show('whole.zip', 'nobody 1')).toMatchObject({ 'dpv:hasDataSubject': none });
  });

  test('tells given, refused and withdrawn consent apart', async () => {
    const typesOf = async (label: string) =>
      z
        .object({ 'dpv:hasConsentStatus': z.array(z.object({ '@type': z.string() })) })
        .parse(await show('whole.zip', label))
        ['dpv:hasConsentStatus'].map((status) => status['@type']);
    expect(await typesOf('alice 2')).toEqual(['dpv:ConsentGiven', 'dpv:ConsentRefused']);
    expect(await typesOf('alice 4')).toEqual(['dpv:ConsentWithdrawn']);
    expect(await typesOf('alice 3')).toEqual(['dpv:ConsentGiven']);
  });

  test('states an indeterminate verdict, and is not made of invalid evidence', async () => {
    expect(await show('whole.zip', 'alice 1', { tsaCa: [] })).toMatchObject({
      'dct:provenance': { 'dct:title': 'verdict: indeterminate' },
    });
    const changed = Buffer.from(receiptOf(ledger, 'alice 1')).toString('utf8').replace('accepted', 'rejected');
    writeFileSync(join(folder, 'changed.json'), changed);
    const refused = show('changed.json', 'alice 1').catch((error: unknown) => error);
    expect(await refused).toBeInstanceOf(UsageError);
    expect(await refused).toMatchObject({ exitCode: 1, message: expect.stringContaining('INVALID') });
  });

  test('is made of consents only, and in one format', async () => {
    await expect(show('whole.zip', 'alice 1', { format: 'xml' })).rejects.toThrow('is not a format');
    await expect(show('whole.zip', 'alice 1', { json: true })).rejects.toThrow('different outputs');
    const { event_id: id } = eventOf(ledger.plan, 'published 1', SITE).record;
    const output = { out: () => undefined, progress: { isTTY: false, write: () => true }, warn: () => undefined };
    const options = { requireStamps: '1', language: 'en', format: 'ts27560', at: AT };
    await expect(runShow(join(folder, 'whole.zip'), String(id), options, output)).rejects.toThrow('name a consent');
    await expect(show('whole.zip', 'bob 3')).rejects.toThrow('is an opt-out or an objection');
  });
});

test('every term is in one vocabulary of the context, once', () => {
  const all = [...CLASSES, ...PROPERTIES];
  expect(new Set(all).size).toBe(all.length);
  for (const term of all) expect(Object.keys(CONTEXT), term).toContain(term.split(':')[0]);
});
