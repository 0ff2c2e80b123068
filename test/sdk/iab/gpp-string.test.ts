import { GppModel } from '@iabgpp/cmpapi';
import { describe, expect, test } from 'vitest';
import { OPT_OUT_VALUES, readGppString } from '../../../schemas/iab/gpp-string.js';
import { areOptOuts, isOptedOut } from '../../../schemas/iab/iab-agreement.js';
import type { GppSettings } from '../../../schemas/iab/iab-settings.js';
import { gppString } from '../../../sdk/iab/gpp-string.js';

const SETTINGS: GppSettings = { cmp_id: 300, sections: ['usnat', 'usca'], opt_out: ['marketing'] };

describe('the GPP string of the SDK', () => {
  test.each([
    [true, true],
    [true, false],
    [false, false],
  ])(
    'of an opt-out (%s) and the signal (%s) is read alike by the library of IAB and the verifier',
    (isOut, isGpcOn) => {
      const text = gppString(SETTINGS, isOut, isGpcOn);
      const value = isOut ? 'opted_out' : 'not_opted_out';
      const stated = readGppString(text);
      expect(stated).toEqual({
        sections: [
          {
            section: 'usnat',
            optOuts: { SaleOptOut: value, SharingOptOut: value, TargetedAdvertisingOptOut: value },
            gpc: isGpcOn,
          },
          { section: 'usca', optOuts: { SaleOptOut: value, SharingOptOut: value }, gpc: isGpcOn },
        ],
        others: [],
      });
      expect(stated !== null && areOptOuts(stated, value)).toBe(true);
      const library = new GppModel(text);
      for (const section of SETTINGS.sections) {
        expect(OPT_OUT_VALUES[Number(library.getFieldValue(section, 'SaleOptOut'))]).toBe(value);
        expect(library.getFieldValue(section, 'Gpc')).toBe(isGpcOn);
      }
    },
  );

  test('an answer without one of the categories is an opt-out', () => {
    expect(isOptedOut(SETTINGS, { marketing: true })).toBe(false);
    expect(isOptedOut(SETTINGS, { marketing: false })).toBe(true);
    expect(isOptedOut(SETTINGS, {})).toBe(true);
  });
});

describe('the reader of GPP strings', () => {
  test('names sections that it does not read, also where the header has ranges of them', () => {
    const model = new GppModel();
    for (const section of ['usnat', 'usca', 'usva', 'usco', 'usut']) model.setFieldValue(section, 'SaleOptOut', 2);
    model.setFieldValue('uspv1', 'Version', 1);
    const stated = readGppString(model.encode());
    expect(stated?.sections.map(({ section }) => section)).toEqual(['usnat', 'usca']);
    expect(stated?.others).toEqual(model.getSectionIds().filter((id: number) => id !== 7 && id !== 8));
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
