import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../schemas/crypto/digest.js';
import { canonicalJson, canonicalString, NotCanonicalizable } from '../../schemas/json/canonical-json.js';
import type { JsonValue } from '../../schemas/json/json-value.js';
import { parseStrictJson } from '../../schemas/json/strict-json.js';

/** Its types and its code disagree about how it is exported. */
const canonicalize: (value: unknown) => string = createRequire(import.meta.url)('canonicalize');

function fromBits(hex: string): number {
  return new DataView(new BigUint64Array([BigInt(`0x${hex}`)]).buffer).getFloat64(0, true);
}

describe('RFC 8785', () => {
  test('§3.2.2: the sample object', () => {
    const input =
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
      '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}';
    expect(canonicalJson(JSON.parse(input))).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  test('§3.2.3: members are sorted by UTF-16 code units', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\u{1f600}', '\u0080', '\u00f6'];
    const text = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])));
    expect(Object.keys(JSON.parse(text)).filter((name) => name !== '1')).toEqual([
      '\r',
      '\u0080',
      '\u00f6',
      '\u20ac',
      '\u{1f600}',
      '\ufb33',
    ]);
    expect(text.startsWith('{"\\r":0,"1":0,')).toBe(true);
  });

  test.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('appendix B: %s', (bits, text) => expect(canonicalJson(fromBits(bits))).toBe(text));

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('%d is no JSON number', (number) => {
    expect(() => canonicalJson([number])).toThrow(NotCanonicalizable);
  });

  test.each(['\ud800', 'a\udc00', '\udc00\ud800'])('a lone surrogate is refused', (text) => {
    expect(() => canonicalString(text)).toThrow(NotCanonicalizable);
    expect(() => canonicalJson({ [text]: 1 })).toThrow(NotCanonicalizable);
  });
});

const json: fc.Arbitrary<JsonValue> = fc.jsonValue({ maxDepth: 6 }).map((value) => JSON.parse(JSON.stringify(value)));

test('the npm package canonicalize gives the same text', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
    { numRuns: 2000 },
  );
});

test('the text parses to the same value, and is its own canonical form', () => {
  fc.assert(
    fc.property(json, (value) => {
      const text = canonicalJson(value);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
    }),
  );
});

test('a member named __proto__ is kept', () => {
  const text = '{"__proto__":{"a":1},"b":2}';
  expect(canonicalJson(parseStrictJson(text))).toBe(text);
});

test('hashing texts', () => {
  expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});
