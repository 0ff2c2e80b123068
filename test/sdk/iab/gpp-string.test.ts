import { GppModel } from '@iabgpp/cmpapi';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { GPP_SECTION_NAMES, OPT_OUT_VALUES, OPT_OUTS, readGppString } from '../../../schemas/iab/gpp-string.js';
import { areOptOuts, areSections, isOptedOut } from '../../../schemas/iab/iab-agreement.js';
import type { GppSettings } from '../../../schemas/iab/iab-settings.js';
import { gppString, sectionsFor } from '../../../sdk/iab/gpp-string.js';

const SETTINGS: GppSettings = { cmp_id: 300, sections: ['usnat', 'usca', 'usco', 'usmd'], opt_out: ['marketing'] };

/** Sections without Global Privacy Control, by IAB's specifications of them. */
const WITHOUT_GPC = ['usva', 'usut', 'usfl', 'usin', 'usky', 'usri'];

describe('the GPP string of the SDK', () => {
  beforeEach(() => vi.stubGlobal('document', { querySelector: () => null }));
  afterEach(() => vi.unstubAllGlobals());

  test.each(GPP_SECTION_NAMES)('of the section %s is read alike by the library of IAB and the verifier', (section) => {
    for (const [isOut, isGpcOn] of [
      [true, true],
      [true, false],
      [false, false],
    ] as const) {
      const text = gppString([section], isOut, isGpcOn);
      const value = isOut ? 'opted_out' : 'not_opted_out';
      const gpc = WITHOUT_GPC.includes(section) ? null : isGpcOn;
      const library = new GppModel(text);
      const optOuts = Object.fromEntries(
        OPT_OUTS.filter((name) => library.hasField(section, name)).map((name) => [name, value]),
      );
      const stated = readGppString(text);
      expect(stated).toEqual({ sections: [{ section, optOuts, gpc }], others: [] });
      expect(stated !== null && areOptOuts(stated, value)).toBe(true);
      for (const name of Object.keys(optOuts))
        expect(OPT_OUT_VALUES[Number(library.getFieldValue(section, name))]).toBe(value);
      if (gpc !== null) expect(library.getFieldValue(section, 'Gpc')).toBe(isGpcOn);
    }
  });

  // IAB's values: 1 is “Yes, notice was provided”, 2 is “No, notice was not provided”.
  test.each(GPP_SECTION_NAMES)(
    'of the section %s states a notice as given where the page has the link alone',
    (section) => {
      const names = ['Sharing', 'Processing', ...OPT_OUTS].map((name) => `${name}Notice`);
      for (const [found, value] of [
        [{}, 1],
        [null, 2],
      ] as const) {
        const querySelector = vi.fn(() => found);
        vi.stubGlobal('document', { querySelector });
        const library = new GppModel(gppString([section], false, false));
        expect(querySelector).toHaveBeenCalledWith('[data-consent-opt-out]');
        const stated = names.filter((name) => library.hasField(section, name));
        expect(stated.length).toBeGreaterThan(0);
        for (const name of stated) expect(library.getFieldValue(section, name), name).toBe(value);
      }
    },
  );

  test.each(GPP_SECTION_NAMES)('the verifier reads a section %s from as many characters as the library', (section) => {
    const [header = '', body = ''] = gppString([section], true, false).split('~');
    const [core = ''] = body.split('.');
    for (let length = 1; length <= core.length; length += 1) {
      const cut = `${header}~${core.slice(0, length)}`;
      const library = () => new GppModel(cut).getFieldValue(section, 'SaleOptOut');
      if (readGppString(cut) === null) expect(library).toThrow();
      else expect(library()).toBe(1);
    }
  });

  test.each([
    ['a state with a section of its own', 'US', 'CO', ['usnat', 'usco']],
    ['a state whose section the site does not speak', 'US', 'VA', ['usnat']],
    ['a state without a law', 'US', 'NY', []],
    ['a state that is not known', 'US', null, []],
    ['another country', 'DE', 'CO', []],
    ['a place that is not known', null, null, []],
  ])('%s', (_what, country, region, sections) => {
    expect(sectionsFor(SETTINGS, { country, region })).toEqual(sections);
  });

  test.each([
    [['usnat', 'usco'], true],
    [['usnat'], true],
    [['usco'], false],
    [['usnat', 'usco', 'usca'], false],
    [['usnat', 'usva'], false],
  ] as const)('whether the configured sections permit %j: %s', (sections, isPermitted) => {
    const stated = readGppString(gppString(sections, true, false));
    expect(stated !== null && areSections(stated, SETTINGS)).toBe(isPermitted);
  });

  test('an answer without one of the categories is an opt-out', () => {
    expect(isOptedOut(SETTINGS, { marketing: true })).toBe(false);
    expect(isOptedOut(SETTINGS, { marketing: false })).toBe(true);
    expect(isOptedOut(SETTINGS, {})).toBe(true);
  });
});

describe('the reader of GPP strings', () => {
  test('names sections that it does not read, also where the header has ranges of them', () => {
    const model = new GppModel();
    for (const section of ['usnat', 'usca', 'usva']) model.setFieldValue(section, 'SaleOptOut', 2);
    for (const section of ['tcfeuv2', 'uspv1']) model.setFieldValue(section, 'Version', section === 'uspv1' ? 1 : 2);
    const stated = readGppString(model.encode());
    expect(stated?.sections.map(({ section }) => section)).toEqual(['usnat', 'usca', 'usva']);
    expect(stated?.others).toEqual([2, 6]);
  });

  test('does not list the sections of a header that names billions', () => {
    // One range from 1 to a number of 60 bits in Fibonacci coding.
    const bits = `000011000001000000000001${'1'}11${'0'.repeat(60)}11`;
    const bytes =
      bits
        .padEnd(96, '0')
        .match(/.{8}/g)
        ?.map((byte) => Number.parseInt(byte, 2)) ?? [];
    expect(readGppString(`${Buffer.from(bytes).toString('base64url')}~BAAA`)).toBeNull();
  });

  test.each([
    ['empty', ''],
    ['of the United States alone (USP)', '1YNN'],
    ['without its sections', 'DBABLA'],
    ['cut in a section', 'DBABLA~CA'],
    ['with a value that no opt-out has', 'DBABLA~D__________'],
    ['cut after the opt-outs (usnat)', 'DBABLA~BVQqAAAAA'],
    ['cut after the opt-outs (usca)', 'DBABBg~BVQqAAA'],
    ['with a second core', 'DBABLA~BVQqAAAAAgA.BVVVVAAAAgA'],
    ['with two segments of the signal', 'DBABLA~BVQqAAAAAgA.QA.YA'],
  ])('refuses a text that is %s', (_, text) => {
    expect(readGppString(text)).toBeNull();
  });
});
