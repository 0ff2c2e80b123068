import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromBase64url } from '../../schemas/crypto/encoding.js';
import { DisclosureDigest } from '../../schemas/evidence/primitives.js';
import { canonicalJson, isCanonicalJson } from '../../schemas/json/canonical-json.js';
import { parseStrictJson, StrictJsonError } from '../../schemas/json/strict-json.js';

/** Names that engines order by themselves, or that mean something to objects, among others. */
const names = fc.oneof(
  fc.constantFrom('10', '9', 'a', 'B', '__proto__', 'constructor', '', 'é', '\u{1f600}', '\ufb33'),
  fc.string(),
);
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false, 0, -0, 1.5, 1e-7, 123456789),
    fc.string({ unit: 'binary' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(names, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

test('the short check for canonical text agrees with the long one', () => {
  const spaces = fc.constantFrom(undefined, 1);
  fc.assert(
    fc.property(json, spaces, fc.boolean(), (value, space, isCanonical) => {
      try {
        const plain = JSON.stringify(value, null, space);
        const text = isCanonical ? canonicalJson(parseStrictJson(plain)) : plain;
        const parsed = parseStrictJson(text);
        expect(isCanonicalJson(text, parsed)).toBe(canonicalJson(parsed) === text);
        if (isCanonical) expect(isCanonicalJson(text, parsed)).toBe(true);
      } catch (error) {
        if (!(error instanceof StrictJsonError)) throw error;
      }
    }),
    { numRuns: 3000 },
  );
});

test.each([
  ['{"10":1,"9":2}', true],
  ['{"9":2,"10":1}', false],
  ['{"b":1,"a":2}', false],
  ['{"a":[{"b":1,"a":2}]}', false],
  ['{"a": 1}', false],
  ['{"a":1.0}', false],
  ['{"a":"\\u0041"}', false],
])('%s is canonical: %s', (text, expected) => {
  expect(isCanonicalJson(text, parseStrictJson(text))).toBe(expected);
});

test('the digest of a disclosure is 32 bytes in canonical base64url', () => {
  const text = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'ABCDEFabcdef0189-_=+ '), minLength: 40, maxLength: 45 }),
    fc.uint8Array({ minLength: 31, maxLength: 33 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
  );
  fc.assert(
    fc.property(text, (value) => {
      expect(DisclosureDigest.safeParse(value).success).toBe(fromBase64url(value)?.length === 32);
    }),
    { numRuns: 2000 },
  );
});
