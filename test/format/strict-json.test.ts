import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { utf8 } from '../../schemas/crypto/encoding.js';
import { parseStrictInput, parseStrictJson, StrictJsonError } from '../../schemas/json/strict-json.js';

function problemOf(input: string | Uint8Array): string | null {
  try {
    parseStrictJson(input);
    return null;
  } catch (error) {
    if (error instanceof StrictJsonError) return error.problem;
    throw error;
  }
}

const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('refuses', () => {
  test.each([
    ['{"a":1,"a":1}', 'duplicate-key'],
    ['{"a":1,"\\u0061":2}', 'duplicate-key'],
    ['[{"x":{"a":[],"b":0,"a":{}}}]', 'duplicate-key'],
    ['{"__proto__":1,"__proto__":2}', 'duplicate-key'],
    ['{"":1,"":2}', 'duplicate-key'],
    ['"\\ud800"', 'lone-surrogate'],
    ['"\\udc00\\ud800"', 'lone-surrogate'],
    ['{"\\ud83d":1}', 'lone-surrogate'],
    ['"\ud800"', 'lone-surrogate'],
    ['"\\u0000"', 'null-character'],
    ['{"\\u0000":1}', 'null-character'],
    ['9007199254740992', 'number-out-of-range'],
    ['-9007199254740992', 'number-out-of-range'],
    ['1e400', 'number-out-of-range'],
    ['-1e400', 'number-out-of-range'],
    ['1e20', 'number-out-of-range'],
    ['[123456789012345678901234567890]', 'number-out-of-range'],
    ['1.0000000000000000000001', 'number-out-of-range'],
    ['1.0000000000000001', 'number-out-of-range'],
    ['0.123456789012345678901', 'number-out-of-range'],
    ['9007199254740991.4', 'number-out-of-range'],
    ['1e-400', 'number-out-of-range'],
    ['[-0.1e-400]', 'number-out-of-range'],
    [`0.${'0'.repeat(400)}1`, 'number-out-of-range'],
    ['1.234567890123456e-310', 'number-out-of-range'],
    [deep(33), 'too-deep'],
    [`[${'0,'.repeat(100_000)}0]`, 'too-many-values'],
    [`[${'[],'.repeat(50_000)}0]`, 'too-many-values'],
    [`{${'"a":1,'.repeat(100_000)}`, 'too-many-values'],
    ['{"a":'.repeat(33), 'too-deep'],
    ['', 'syntax'],
    [' ', 'syntax'],
    ['\ufeff{}', 'syntax'],
    ['{} {}', 'syntax'],
    ['{"a":1,}', 'syntax'],
    ['[1,]', 'syntax'],
    ['{a:1}', 'syntax'],
    ["{'a':1}", 'syntax'],
    ['01', 'syntax'],
    ['+1', 'syntax'],
    ['.5', 'syntax'],
    ['5.', 'syntax'],
    ['0x10', 'syntax'],
    ['NaN', 'syntax'],
    ['Infinity', 'syntax'],
    ['--1', 'syntax'],
    ['1-1', 'syntax'],
    ['"\n"', 'syntax'],
    ['"\\x41"', 'syntax'],
    ['"open', 'syntax'],
    ['"open\\', 'syntax'],
    ['// no\n1', 'syntax'],
    ['[1]]', 'syntax'],
    [':', 'syntax'],
  ])('%s: %s', (text, problem) => expect(problemOf(text)).toBe(problem));

  test.each([
    [[0xff]],
    [[0x22, 0xc0, 0x80, 0x22]],
    [[0x22, 0xed, 0xa0, 0x80, 0x22]],
    [[0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
  ])('bytes %j are no UTF-8', (bytes) => {
    expect(problemOf(Uint8Array.from(bytes))).toBe('invalid-utf8');
  });
});

test.each([
  ['9007199254740991', 9007199254740991],
  ['-9007199254740991', -9007199254740991],
  ['1.5e3', 1500],
  ['1E2', 100],
  ['0e-999', 0],
  ['1.50000000000000000000000', 1.5],
  ['5e-324', 5e-324],
  ['0.10000000000000001', 0.1],
  ['0.30000000000000004', 0.1 + 0.2],
  ['2.2250738585072014e-308', 2.2250738585072014e-308],
  ['-0', -0],
  ['"\\ud83d\\ude00"', '😀'],
  [' [ ] ', []],
  ['{"a":":","b":"{[\\"1e999\\\\"}', { a: ':', b: '{["1e999\\' }],
])('%s is read', (text, value) => expect(parseStrictJson(text)).toEqual(value));

test('every double in its canonical form is read, and in the 17 digits that other languages write', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) return;
      const expected = value === 0 ? 0 : value;
      expect(parseStrictJson(JSON.stringify(value))).toBe(expected);
      expect(parseStrictJson(value.toExponential(16))).toBe(expected);
    }),
    { numRuns: 5000 },
  );
});

test('100,000 values are read, and more where they are allowed', () => {
  const text = `[${'0,'.repeat(99_998)}0]`;
  expect(parseStrictJson(text)).toHaveLength(99_999);
  expect(parseStrictJson(`[${'0,'.repeat(150_000)}0]`, 32, 200_000)).toHaveLength(150_001);
});

test('depth 32 is read', () => expect(problemOf(deep(32))).toBeNull());

test('valid JSON reads as JSON.parse reads it, from text and from bytes', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(0, 2, '\t'), (value, space) => {
      const text = JSON.stringify(value, null, space);
      const problem = problemOf(text);
      if (problem === null) {
        expect(parseStrictJson(text)).toEqual(JSON.parse(text));
        expect(parseStrictJson(utf8(text))).toEqual(JSON.parse(text));
      } else {
        expect(['number-out-of-range', 'null-character', 'lone-surrogate']).toContain(problem);
      }
    }),
    { numRuns: 1000 },
  );
});

test('what JSON.parse refuses is refused, without any other exception', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]:,"\\u0019-+.eE truefalsn\n') }), (text) => {
      const problem = problemOf(text);
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      if (!isJson) expect(problem).not.toBeNull();
    }),
    { numRuns: 5000 },
  );
});

describe('what callers send', () => {
  test.each(['{"__proto__":1}', '[{"a":{"\\u005f_proto__":{}}}]', '{"a":[{"b":{"__proto__":null}}]}'])(
    'may not have a member __proto__, as in %s, which stays where it is written down already',
    (text) => {
      expect(() => parseStrictInput(text)).toThrow(/No member may be named __proto__/);
      expect(() => parseStrictInput(utf8(text))).toThrow(StrictJsonError);
      expect(JSON.stringify(parseStrictJson(text))).toBe(text.replace('\\u005f', '_'));
    },
  );

  test.each(['{"constructor":1,"a":"__proto__"}', '["\\u00e9"]', '{"__proto":1,"x__proto__":2}'])(
    'is read as everything else otherwise: %s',
    (text) => expect(parseStrictInput(text)).toEqual(JSON.parse(text)),
  );

  test('is refused as everything else otherwise', () => {
    for (const text of ['{"a":1,"a":1}', '{', '"\\u0000"']) {
      expect(() => parseStrictInput(text)).toThrow(StrictJsonError);
    }
    expect(() => parseStrictInput(Uint8Array.of(0xff))).toThrow(StrictJsonError);
  });
});
