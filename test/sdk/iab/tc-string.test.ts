import { GVL, TCModel, TCString, type VendorList } from '@iabtechlabtcf/core';
import { describe, expect, test } from 'vitest';
import { tcDifferences } from '../../../schemas/iab/iab-agreement.js';
import type { TcfSettings } from '../../../schemas/iab/iab-settings.js';
import { countVendors, readTcString, type TcStatement, type VendorRanges } from '../../../schemas/iab/tc-string.js';
import { tcStrings } from '../../../sdk/iab/tc-string.js';
import { seededRandom } from '../../reliability/simulation/scheduler.js';
import { inventedVendorList } from './vendor-list.js';

const DAY = Date.UTC(2026, 10, 26);
const SETTINGS: TcfSettings = {
  cmp_id: 300,
  cmp_version: 2,
  publisher_country: 'DE',
  vendor_list: { version: 120, sha256: '0'.repeat(64) },
  vendors: [2, 10, 28, 755],
  purposes: { analytics: [7, 8], marketing: [1, 3, 4] },
  special_features: { marketing: [1] },
};
const encode = tcStrings(SETTINGS, inventedVendorList(120, SETTINGS.vendors));
const stringOf = (categories: Record<string, boolean>): string =>
  encode({ categories, language: 'de-AT', at: DAY + 5_000 });

function numbersOf(ranges: VendorRanges): number[] {
  return ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, index) => first + index));
}

function read(text: string): TcStatement {
  const stated = readTcString(text);
  if (stated === null) throw new Error('unreadable');
  return stated;
}

/** Writes bits as the specification orders them, without the library. */
function base64urlOf(bits: string): string {
  const padded = bits.padEnd(Math.ceil(bits.length / 24) * 24, '0');
  const bytes = padded.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [];
  return Buffer.from(bytes).toString('base64url');
}
const bitsOf = (value: number, width: number): string => value.toString(2).padStart(width, '0');

describe('the TC string of the SDK', () => {
  test('says what the visitor chose, as the library of IAB and the verifier read it', () => {
    const text = stringOf({ necessary: true, analytics: true, marketing: true });
    const stated = read(text);
    const library = TCString.decode(text);
    expect(stated).toMatchObject({
      created: DAY,
      updated: DAY,
      cmpId: 300,
      cmpVersion: 2,
      language: 'DE',
      vendorListVersion: 120,
      policyVersion: 5,
      isServiceSpecific: true,
      specialFeatures: [1],
      purposes: [1, 3, 4, 7, 8],
      legitimateInterests: [],
      publisherCountry: 'DE',
      restrictions: 0,
    });
    expect(numbersOf(stated.vendors)).toEqual(SETTINGS.vendors);
    expect(numbersOf(stated.disclosed ?? [])).toEqual(SETTINGS.vendors);
    expect([...library.vendorConsents].filter(([, given]) => given).map(([id]) => id)).toEqual(SETTINGS.vendors);
    expect(tcDifferences(stated, SETTINGS, { analytics: true, marketing: true })).toEqual([]);
  });

  test('of a refusal has no purpose and no vendor, and discloses all the same', () => {
    const stated = read(stringOf({ necessary: true, analytics: false, marketing: false }));
    expect(stated).toMatchObject({ purposes: [], specialFeatures: [], vendors: [] });
    expect(countVendors(stated.disclosed ?? [])).toBe(4);
    expect(tcDifferences(stated, SETTINGS, { analytics: false, marketing: false })).toEqual([]);
  });

  test('that says more than the visitor chose is found, part by part', () => {
    const stated = read(stringOf({ analytics: true, marketing: true }));
    expect(tcDifferences(stated, SETTINGS, { analytics: true, marketing: false })).toEqual([
      'purposes',
      'special_features',
    ]);
    expect(tcDifferences(stated, SETTINGS, {})).toEqual(['purposes', 'special_features', 'vendors']);
    const other: TcfSettings = { ...SETTINGS, cmp_id: 301, publisher_country: 'FR', vendors: [2, 10, 28] };
    expect(tcDifferences(stated, other, { analytics: true, marketing: true })).toEqual([
      'cmp',
      'publisher_country',
      'vendors',
      'disclosed_vendors',
    ]);
    const claims = { ...stated, legitimateInterests: [2], disclosed: null };
    expect(tcDifferences(claims, SETTINGS, { analytics: true, marketing: true })).toEqual([
      'legitimate_interests',
      'disclosed_vendors',
    ]);
    const list = { ...SETTINGS, vendor_list: { ...SETTINGS.vendor_list, version: 121 } };
    expect(tcDifferences(stated, list, { analytics: true, marketing: true })).toEqual(['vendor_list']);
  });
});

describe('the format of a TC string', () => {
  const at = DAY;
  const languageOf = (language: string): string =>
    TCString.decode(encode({ categories: {}, language, at })).consentLanguage;

  // `ConsentLanguage`: “Two-letter ISO 639-1 language code”; the list of IAB Europe has Filipino as TL.
  test.each([
    ['fil', 'TL'],
    ['fil-PH', 'TL'],
    ['fi', 'FI'],
    ['deu', 'DE'],
    ['de-AT', 'DE'],
    ['yue-Hant-HK', 'ZH'],
    ['ckb', 'KU'],
    ['gsw', 'EN'],
    ['', 'EN'],
  ])('names the language %s as %s', (tag, letters) => {
    expect(languageOf(tag)).toBe(letters);
  });

  // `UseNonStandardTexts`: “1 CMP used non-IAB standard texts during consent gathering”.
  test('says that the words are those of the site', () => {
    expect(read(stringOf({})).hasOwnTexts).toBe(true);
  });

  const special = inventedVendorList(120, SETTINGS.vendors, [28]);
  const claimed = (list: VendorList): number[] =>
    numbersOf(read(tcStrings(SETTINGS, list)({ categories: {}, language: 'en', at })).vendorLegitimateInterests);

  // Vendor Legitimate Interest Section, until TCF 2.3: for vendors “that register for Special Purposes only […] and
  // have been displayed by the CMP the value must be set to 1”.
  test('before TCF 2.4 has the bit of legitimate interest for displayed vendors with special purposes alone', () => {
    expect(claimed(special)).toEqual([28]);
  });

  // TCF 2.4 “removes requirement for Special Purpose–only vendors to be disclosed under the Legitimate Interest
  // declaration” and adds `standardTexts` to the list (pull request 443 of the specification).
  test('since TCF 2.4 has them among the disclosed vendors alone', () => {
    const list = { ...special, standardTexts: { features: 'A standard text.' } };
    expect(claimed(list)).toEqual([]);
    const text = tcStrings(SETTINGS, list)({ categories: {}, language: 'en', at });
    expect(numbersOf(read(text).disclosed ?? [])).toEqual(SETTINGS.vendors);
  });

  test('states what was disclosed, and not what the configuration added since', () => {
    const disclosed = {
      vendors: [2, 28, 99],
      purposes: { marketing: [1, 3, 6], analytics: [7] },
      special_features: {},
    };
    const stated = read(encode({ categories: { marketing: true, analytics: true }, language: 'en', at, disclosed }));
    expect(stated).toMatchObject({ purposes: [1, 3, 7], specialFeatures: [] });
    expect(numbersOf(stated.vendors)).toEqual([2, 28]);
    expect(numbersOf(stated.disclosed ?? [])).toEqual([2, 28]);
  });
});

describe('the reader of TC strings', () => {
  test('reads what the library writes, for random models', () => {
    const random = seededRandom(20261126);
    const some = (largest: number, share: number): number[] =>
      Array.from({ length: largest }, (_, index) => index + 1).filter(() => random() < share);
    for (let round = 0; round < 60; round += 1) {
      const vendors = [...new Set(some(random() < 0.3 ? 4_000 : 60, random()))];
      const model = new TCModel(new GVL(inventedVendorList(1 + Math.floor(random() * 4_000), vendors)));
      model.cmpId = 2 + Math.floor(random() * 4_000);
      model.cmpVersion = Math.floor(random() * 4_000);
      model.isServiceSpecific = random() < 0.5;
      model.created = new Date(DAY - Math.floor(random() * 1_000) * 86_400_000);
      model.lastUpdated = model.created;
      const purposes = some(11, random());
      model.purposeConsents.set(purposes);
      model.vendorConsents.set(vendors);
      model.vendorsDisclosed.set(vendors);
      const stated = read(TCString.encode(model));
      expect(stated.purposes).toEqual(purposes);
      expect(numbersOf(stated.vendors)).toEqual(vendors);
      expect(numbersOf(stated.disclosed ?? [])).toEqual(vendors);
      expect(stated.created).toBe(model.created.getTime());
      expect(stated.isServiceSpecific).toBe(model.isServiceSpecific);
      expect(stated.cmpId).toBe(model.cmpId);
    }
  });

  test('does not list the vendors of a short text that names a hundred million', () => {
    const head = bitsOf(2, 6) + bitsOf(0, 36 * 2 + 12 * 2 + 6) + bitsOf(0, 12 + 12 + 6 + 2 + 12 + 24 * 2 + 1 + 12);
    const range = `1${bitsOf(1, 16)}${bitsOf(65_535, 16)}`;
    const core = base64urlOf(`${head + bitsOf(65_535, 16)}1${bitsOf(1_400, 12)}${range.repeat(1_400)}`);
    const begun = process.cpuUsage();
    expect(readTcString(core)).toBeNull();
    expect(process.cpuUsage(begun).user).toBeLessThan(1_000_000);
  });

  test.each([
    ['empty', ''],
    ['of version 1', 'BOEFEAyOEFEAyAHABDENAI4AAAB9vABAASA'],
    ['cut', stringOf({ marketing: true }).slice(0, 30)],
    ['with a character that is not base64url', `*${stringOf({}).slice(1)}`],
    ['of words', 'consent-given'],
    ['with a second core', `${stringOf({})}.${stringOf({ marketing: true }).split('.')[0]}`],
  ])('refuses a text that is %s', (_, text) => {
    expect(readTcString(text)).toBeNull();
  });
});

test('a string that ends within the restrictions of the publisher is none', () => {
  const bits = (value: number, width: number): string => value.toString(2).padStart(width, '0');
  const day = Date.UTC(2026, 10, 26) / 100;
  const before = [
    ...[bits(2, 6), bits(day, 36), bits(day, 36), bits(300, 12), bits(2, 12), bits(0, 6), bits(4, 6), bits(13, 6)],
    ...[bits(120, 12), bits(5, 6), '10', bits(0, 12), bits(0, 48), '0', bits(3, 6), bits(4, 6)],
    ...[bits(0, 17), bits(0, 17)],
  ].join('');
  // One restriction of purpose 1, with a vendor and a range of vendors.
  const restriction = [
    bits(1, 12),
    bits(1, 6),
    '00',
    bits(2, 12),
    '0',
    bits(2, 16),
    '1',
    bits(5, 16),
    bits(9, 16),
  ].join('');
  const textOf = (all: string): string =>
    (all.match(/.{1,6}/g) ?? []).map((six) => ALPHABET[Number.parseInt(six.padEnd(6, '0'), 2)]).join('');
  expect(readTcString(textOf(before + restriction))).toMatchObject({ restrictions: 1 });
  for (const end of [13, 25, 33, 60, 76]) expect(readTcString(textOf(before + restriction.slice(0, end)))).toBeNull();
});

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
