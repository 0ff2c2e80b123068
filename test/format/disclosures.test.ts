import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { S2sConsentRequest } from '../../schemas/api/consents.js';
import { PERSONAL_FIELDS } from '../../schemas/api/export.js';
import { fromBase64url, textFromBase64url, textOfBytes, toBase64url, utf8 } from '../../schemas/crypto/encoding.js';
import { ConsentRecordV2 } from '../../schemas/events/consent-recorded.js';
import { DISCLOSURE_NAMES } from '../../schemas/evidence/disclosed-values.js';
import { decodeDisclosure, disclosureDigest, encodeDisclosure, SALT_BYTES } from '../../schemas/evidence/disclosure.js';

test('RFC 9901 §4.2.3: the digest of the example disclosure', () => {
  const text = 'WyJfMjZiYzRMVC1hYzZxMktJNmNCVzVlcyIsICJmYW1pbHlfbmFtZSIsICJNw7ZiaXVzIl0';
  expect(new TextDecoder().decode(Buffer.from(text, 'base64url'))).toBe(
    '["_26bc4LT-ac6q2KI6cBW5es", "family_name", "Möbius"]',
  );
  expect(disclosureDigest(text)).toBe('X9yH0Ajrdm1Oij4tWso9UzzKJvPoDxwmuEcO3XAdRC0');
});

test('decodes its own encoding', () => {
  const salt = fc.uint8Array({ minLength: SALT_BYTES, maxLength: 40 });
  const name = fc.string({ minLength: 1, maxLength: 100, unit: 'grapheme-ascii' });
  fc.assert(
    fc.property(
      salt,
      name,
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean(), fc.constant(null)),
      (bytes, field, value) => {
        const text = encodeDisclosure(bytes, field, value);
        expect(decodeDisclosure(text)).toEqual({ salt: toBase64url(bytes), name: field, value });
        expect(disclosureDigest(text)).toMatch(/^[A-Za-z0-9_-]{43}$/);
      },
    ),
  );
});

const SALT = 'AAAAAAAAAAAAAAAAAAAAAA';

describe('rejects as a disclosure', () => {
  test.each([
    ['no JSON', 'nonsense'],
    ['no array', `{"salt":"${SALT}"}`],
    ['two items', `["${SALT}","name"]`],
    ['four items', `["${SALT}","name",1,2]`],
    ['a number as salt', '[1,"name",1]'],
    ['a short salt', '["AAAA","name",1]'],
    ['a salt that is no base64url', `["${SALT}==","name",1]`],
    ['an empty name', `["${SALT}","",1]`],
    ['a name that is too long', `["${SALT}","${'x'.repeat(101)}",1]`],
    ['a key twice', `["${SALT}","name",{"a":1,"a":2}]`],
    ['a lone surrogate', `["${SALT}","name","\\ud800"]`],
  ])('%s', (_, json) => expect(decodeDisclosure(toBase64url(utf8(json)))).toBeNull());

  test.each([
    ['padding', `${toBase64url(utf8(`["${SALT}","n",10]`))}=`],
    ['other characters', '***'],
    ['bits behind the end', 'AB'],
    ['nothing', ''],
    ['bytes that are no UTF-8', toBase64url(Uint8Array.of(0x22, 0xff, 0x22))],
  ])('%s', (_, text) => expect(decodeDisclosure(text)).toBeNull());
});

test('the text of base64url is that of its bytes, and null wherever they are', () => {
  // Of the last ones, only the low byte is a character of base64url.
  const characters = [...'AQgwEIMUYckos048BDZ_-+/= \n\u0000éŁŗ\u0441'];
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...characters), maxLength: 9 }), (text) => {
      const bytes = fromBase64url(text);
      expect(textFromBase64url(text)).toBe(bytes === null ? null : textOfBytes(bytes));
    }),
    { numRuns: 20_000 },
  );
});

describe('the names of disclosures', () => {
  test('cover every field of a request that is not in the record itself', () => {
    const notStored = ['approval_token', 'person_token'];
    const stored = Object.keys(S2sConsentRequest.shape).filter(
      (name) => !(name in ConsentRecordV2.shape) && !notStored.includes(name),
    );
    // An import alone gives a record this value.
    expect([...stored, 'source_record_id'].sort()).toEqual(DISCLOSURE_NAMES);
  });

  test('are the personal fields of the record export', () => {
    expect([...PERSONAL_FIELDS].sort()).toEqual(DISCLOSURE_NAMES);
  });
});
