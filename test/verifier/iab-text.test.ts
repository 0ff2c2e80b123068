import { GVL, TCString } from '@iabtechlabtcf/core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { IabSettings } from '../../schemas/iab/iab-settings.js';
import { VendorList } from '../../schemas/iab/vendor-list.js';
import type { JsonValue } from '../../schemas/json/json-value.js';
import { gppString } from '../../sdk/iab/gpp-string.js';
import { tcStrings } from '../../sdk/iab/tc-string.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import { iabText } from '../../verifier-cli/src/show/iab-text.js';
import { inventedVendorList } from '../sdk/iab/vendor-list.js';

// A page without the link to the opt-out.
beforeAll(() => vi.stubGlobal('document', { querySelector: () => null }));
afterAll(() => vi.unstubAllGlobals());

const TCF = {
  cmp_id: 300,
  cmp_version: 2,
  publisher_country: 'DE',
  vendor_list: { version: 120, sha256: '0'.repeat(64) },
  vendors: [2, 10, 28],
  purposes: { analytics: [7, 8], marketing: [1, 3, 4] },
  special_features: { marketing: [1] },
};
const GPP = { cmp_id: 0, sections: ['usnat' as const], opt_out: ['marketing'] };
const encode = tcStrings(TCF, inventedVendorList(120, TCF.vendors));
const tcOf = (categories: Record<string, boolean>): string =>
  encode({ categories, language: 'en', at: Date.UTC(2026, 10, 26) });
const CREATED = '2026-11-26T10:00:00.000Z';
const { tcAgrees: TC_AGREES, gppAgrees: GPP_AGREES } = en.record.iab;

interface StatedRecord {
  readonly categories: { readonly [key: string]: boolean } | null;
  readonly iab: JsonValue | undefined;
  readonly type?: string;
  readonly decision?: 'accepted' | 'withdrawn';
  readonly created?: string;
  readonly settings?: IabSettings | null;
}

/** The line of the certificate. @param settings `iab` of the sealed configuration; null: it has none */
function lineOf(stated: StatedRecord): string | null {
  const { categories, iab, type = 'cookie', decision = 'accepted', created = CREATED } = stated;
  const { settings = { tcf: TCF, gpp: GPP } } = stated;
  const configuration = settings === null ? null : { iab: settings };
  return iabText(
    {
      disclosures: { iab: 'digest' },
      categories,
      consent_type: type,
      decision,
      created_at: created,
      channel: 'browser',
    },
    { disclosed: iab === undefined ? [] : [{ name: 'iab', value: iab }], configuration },
    en,
  );
}

test('a TC string is decoded, and compared with the answers', () => {
  const said =
    'The browser stated a TC string of 2026-11-26. It says: purposes 1, 3, 4; special features 1; 3 vendors of the vendor list 120.';
  const iab = { tc_string: tcOf({ marketing: true }) };
  expect(lineOf({ iab, categories: { marketing: true, analytics: false } })).toBe(`${said} ${TC_AGREES}`);
  expect(lineOf({ iab, categories: { marketing: false, analytics: false } })).toBe(
    `${said} This record and the sealed configuration say otherwise: the purposes, the special features, the vendors with consent.`,
  );
  expect(lineOf({ iab, categories: { marketing: true }, settings: null })).toBe(
    `${said} This file has no configuration that states these signals, so that they were not compared.`,
  );
});

test('bits of legitimate interest of disclosed vendors are compared by the vendor list alone', () => {
  const list = inventedVendorList(120, TCF.vendors, [10]);
  const tc_string = tcStrings(TCF, list)({ categories: {}, language: 'en', at: Date.UTC(2026, 10, 26) });
  const textBy = (by: VendorList | null) =>
    iabText(
      {
        disclosures: { iab: 'digest' },
        categories: {},
        consent_type: 'cookie',
        decision: 'rejected',
        created_at: CREATED,
        channel: 'browser',
      },
      { disclosed: [{ name: 'iab', value: { tc_string } }], configuration: { iab: { tcf: TCF } } },
      en,
      by,
    );
  expect(textBy(null)).toContain(
    `${TC_AGREES} Its bits of legitimate interest of 1 vendor that was disclosed were not compared`,
  );
  expect(textBy(VendorList.parse(list))).toMatch(new RegExp(`${TC_AGREES}$`));
  // By this list, vendor 10 declares purposes.
  expect(textBy(VendorList.parse(inventedVendorList(120, TCF.vendors)))).toContain('otherwise: legitimate interests');
});

test('a string of an SDK that stated the texts of IAB Europe is named', () => {
  const model = TCString.decode(tcOf({ marketing: true }));
  model.useNonStandardTexts = false;
  model.gvl = new GVL(inventedVendorList(120, TCF.vendors));
  const said = lineOf({ iab: { tc_string: TCString.encode(model) }, categories: { marketing: true } });
  expect(said).toContain(`${TC_AGREES} It says that the question had the standard texts of IAB Europe`);
});

test('a GPP string is decoded, and compared with the opt-out', () => {
  const opted = { gpp_string: gppString(GPP.sections, true, true) };
  const values =
    'The browser stated a GPP string. Its section usnat says: SaleOptOut: opted out, SharingOptOut: opted out, TargetedAdvertisingOptOut: opted out; Global Privacy Control.';
  expect(lineOf({ iab: opted, categories: { marketing: false } })).toBe(`${values} ${GPP_AGREES}`);
  expect(lineOf({ iab: opted, categories: null, type: 'do_not_sell_opt_out' })).toBe(`${values} ${GPP_AGREES}`);
  expect(lineOf({ iab: opted, categories: { marketing: true } })).toBe(
    `${values} This record states no opt-out; an earlier one may stand.`,
  );
  const not = { gpp_string: gppString(GPP.sections, false, false) };
  expect(lineOf({ iab: not, categories: { marketing: false } })).toContain('say otherwise: the opt-out.');
  expect(lineOf({ iab: not, categories: null, type: 'do_not_sell_opt_out' })).toContain('say otherwise: the opt-out.');
});

test('a string that states more than was compared does not agree', () => {
  const marketing = { marketing: true, analytics: false };
  const [core = '', disclosed = '', publisher = ''] = tcOf(marketing).split('.');
  const lines = (tc_string: string): string | null => lineOf({ iab: { tc_string }, categories: marketing });
  expect(lines([core, publisher, disclosed].join('.'))).toContain(TC_AGREES);
  // The publisher claims consent for purpose 1 (bit 4 of its segment), and a vendor is allowed out of band.
  const claimed = `c${publisher.slice(1)}`;
  const allowed = `Q${disclosed.slice(1)}`;
  for (const text of [
    [core, disclosed, claimed],
    [core, disclosed, allowed],
    [core, disclosed, disclosed],
    [core, disclosed, publisher, publisher],
  ])
    expect(lines(text.join('.'))).toContain('otherwise: further statements, which the banner does not make.');
});

test('a GPP string without the configured sections does not agree', () => {
  const categories = { marketing: false };
  const differs = 'This record and the sealed configuration say otherwise: the sections.';
  // Section 2 alone, which is a TC string, and a header without a section.
  for (const gpp_string of [`DBABM~${tcOf({ marketing: true })}`, 'DBAA'])
    expect(lineOf({ iab: { gpp_string }, categories })).toContain(differs);
  const both = { gpp_string: gppString(['usnat', 'usca'], true, false) };
  expect(lineOf({ iab: both, categories })).toContain(differs);
  const opted = {
    iab: { gpp_string: gppString(GPP.sections, true, true) },
    categories: null,
    type: 'do_not_sell_opt_out',
  };
  expect(lineOf({ ...opted, settings: null })).toContain('has no configuration');
});

test('a withdrawal permits no purpose, whatever categories it names', () => {
  const marketing = { marketing: true };
  const stated = { iab: { tc_string: tcOf(marketing) }, categories: marketing, decision: 'withdrawn' as const };
  expect(lineOf(stated)).toContain('otherwise: the purposes');
});

test('a string that nobody can read, or that is not disclosed, is called so', () => {
  expect(lineOf({ iab: { tc_string: 'consent', gpp_string: '1YNN' }, categories: {} })).toBe(
    'The browser stated a TC string that is not one of version 2. The browser stated a GPP string that is not one of version 1.',
  );
  expect(lineOf({ iab: undefined, categories: {} })).toBe('stated, and not disclosed in this file or erased');
  expect(lineOf({ iab: { tc_string: '<script>' }, categories: {} })).toBe(
    'stated, and not disclosed in this file or erased',
  );
});

test('the sentence names what was compared, and what was not', () => {
  expect(TC_AGREES).toContain('Not compared: ');
  expect(GPP_AGREES).toContain('consents to sensitive data or to data of children');
  const iab = { tc_string: tcOf({ marketing: true }) };
  const categories = { marketing: true, analytics: false };
  for (const created of ['2021-11-26T10:00:00.000Z', '2036-11-26T10:00:00.000Z'])
    expect(lineOf({ iab, categories, created })).toContain('more than two days from the time of this record');
});

test('a signal beside “not opted out”, and an opt-out that the string does not state, are named', () => {
  const silent = { gpp_string: gppString(GPP.sections, false, true) };
  expect(lineOf({ iab: silent, categories: { marketing: true } })).toContain('Global Privacy Control beside');
  // Version 1, then fields of which all are 0: nothing applies.
  const nothing = { gpp_string: 'DBABLA~BAAAAAAAAA' };
  const optOut = { iab: nothing, categories: null, type: 'do_not_sell_opt_out' };
  for (const settings of [undefined, null])
    expect(lineOf({ ...optOut, ...(settings === null && { settings }) })).toContain('does not state one');
  expect(lineOf({ iab: nothing, categories: { marketing: true } })).toContain('say otherwise: the opt-out');
  expect(lineOf({ iab: { gpp_string: 'DBAA' }, categories: {} })).toContain('no section that this program reads');
});
