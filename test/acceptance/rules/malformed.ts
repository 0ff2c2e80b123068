import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { accepted, expectError } from '../support/answers.js';
import { newVisitor, type Shop } from '../support/shop.js';
import type { World } from '../support/world.js';

type Body = (shop: Shop) => string | Uint8Array;

/** The text of a good consent with a further member, as it is written. */
const withMember = (shop: Shop, member: string): string =>
  `${JSON.stringify(shop.cookieConsent()).slice(0, -1)},${member}}`;
const inMetadata =
  (value: string): Body =>
  (shop) =>
    withMember(shop, `"metadata":{"a":${value}}`);

/** Bodies that are no strict JSON in UTF-8: 400 MALFORMED_JSON. */
const MALFORMED: readonly (readonly [title: string, body: Body])[] = [
  ['an empty body', () => ''],
  ['white space', () => '  \n'],
  ['a text cut short', (shop) => JSON.stringify(shop.cookieConsent()).slice(0, -1)],
  ['something after the JSON', (shop) => `${JSON.stringify(shop.cookieConsent())}x`],
  ['two JSON texts', (shop) => JSON.stringify(shop.cookieConsent()).repeat(2)],
  ['single quotes', () => "{'consent_type':'cookie'}"],
  ['a comma too many', (shop) => withMember(shop, '')],
  ['a comment', (shop) => `/* */${JSON.stringify(shop.cookieConsent())}`],
  ['NaN', inMetadata('NaN')],
  ['a line feed inside a string', inMetadata('"a\nb"')],
  ['the same key twice', (shop) => withMember(shop, '"decision":"rejected"')],
  ['the same key twice, once escaped', (shop) => withMember(shop, '"\\u0064ecision":"rejected"')],
  ['the same key twice in metadata', inMetadata('{"x":1,"x":2}')],
  [
    'invalid UTF-8',
    (shop) => Buffer.concat([Buffer.from(withMember(shop, '"source":"')), Buffer.from([0xff, 0x22, 0x7d])]),
  ],
  ['UTF-8 in more bytes than needed', (shop) => overlong(withMember(shop, '"source":"@"'))],
  ['UTF-16', (shop) => Buffer.from(JSON.stringify(shop.cookieConsent()), 'utf16le')],
  ['U+0000 in a value', inMetadata('"a\\u0000b"')],
  ['U+0000 in a field of the table', (shop) => withMember(shop, '"visitor_id":"a\\u0000b"')],
  ['U+0000 in a name', (shop) => withMember(shop, '"metadata":{"a\\u0000b":1}')],
  ['a lone high surrogate', inMetadata('"\\ud800"')],
  ['a lone low surrogate', inMetadata('"\\udc00 "')],
  ['a lone surrogate in a name', (shop) => withMember(shop, '"metadata":{"\\ud800":1}')],
  ['metadata with the name __proto__', (shop) => withMember(shop, '"metadata":{"__proto__":{"x":1}}')],
  ['the name __proto__, once escaped', (shop) => withMember(shop, '"metadata":{"\\u005f_proto__":{"x":1}}')],
  ['categories with the name __proto__', (shop) => withMember(shop, '"categories":{"__proto__":true}')],
  ['a member __proto__', (shop) => withMember(shop, '"__proto__":{"decision":"rejected"}')],
  ['nesting 100 deep', inMetadata('['.repeat(100) + ']'.repeat(100))],
  ['nesting 100 000 deep', inMetadata('['.repeat(100_000) + ']'.repeat(100_000))],
  ['100 000 opening brackets', () => '['.repeat(100_000)],
];

function overlong(text: string): Uint8Array {
  const [before = '', after = ''] = text.split('@');
  return Buffer.concat([Buffer.from(before), Buffer.from([0xc1, 0x80]), Buffer.from(after)]);
}

/** JSON with a number that cannot be kept as it was sent. */
const INEXACT: readonly (readonly [title: string, body: Body])[] = [
  ['1e400', inMetadata('1e400')],
  ['-1e400', inMetadata('-1e400')],
  ['an integer beyond 2^53', inMetadata('9007199254740993')],
];

/** Bodies that are odd, but JSON: taken, or told what is wrong. */
const ODD: readonly (readonly [title: string, body: Body])[] = [
  ['metadata with the name constructor', (shop) => withMember(shop, '"metadata":{"constructor":{"prototype":1}}')],
  ['metadata with an empty name', (shop) => withMember(shop, '"metadata":{"":""}')],
  ['a byte order mark', (shop) => `\ufeff${JSON.stringify(shop.cookieConsent())}`],
  ['U+FFFE, U+FFFF and U+2028', inMetadata('"\ufffe\uffff\u2028"')],
  ['controls escaped', inMetadata('"\\u0001\\u001f\\u007f"')],
  ['5e-324', inMetadata('5e-324')],
  ['1e-400', inMetadata('1e-400')],
  ['minus zero', inMetadata('-0')],
  ['an integer with a fraction of zero', inMetadata('1.0')],
  ['nesting 20 deep', inMetadata('['.repeat(20) + ']'.repeat(20))],
  ['SQL in a value', (shop) => withMember(shop, '"visitor_id":"\'; drop table consents; --"')],
  ['text of a right-to-left script', inMetadata('"\u202eحسن\u202c"')],
];

/** Specification, Errors: every invalid request gets an error of the same shape, and affects no other client. */
export function malformedRules(world: World): void {
  describe('Malformed requests', () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await world.shop();
    });

    for (const [title, body] of MALFORMED) {
      test(`${title}: 400 MALFORMED_JSON, on the single and the batch route`, async () => {
        expectError(await shop.consent(null, { body: body(shop) }), 400, 'MALFORMED_JSON');
        expectError(await shop.post('/tool/v1/consents/batch', null, { body: body(shop) }), 400, 'MALFORMED_JSON');
      });
    }
    for (const [title, body] of INEXACT) {
      test(`${title}: 422 VALIDATION_ERROR, which names the field`, async () => {
        const answer = await shop.consent(null, { body: body(shop) });
        expectError(answer, 422, 'VALIDATION_ERROR');
        expect(answer.text).toContain('"field":"metadata.');
      });
    }
    for (const [title, body] of ODD) {
      test(`${title}: accepted, or refused with the reason`, async () => {
        const answer = await shop.consent(null, { body: body(shop) });
        if (answer.status === 202) accepted(answer);
        else expect([400, 409, 422], `${answer.text}`).toContain(answer.status);
      });
    }
    test('Hostile requests harm no good ones that come at the same time', async () => {
      const hostile = MALFORMED.map(([, body]) => shop.consent(null, { body: body(shop) }));
      const odd = ODD.map(([, body]) => shop.consent(null, { body: body(shop) }));
      const good = Array.from({ length: 20 }, () => shop.consent(shop.cookieConsent({ visitor_id: newVisitor() })));
      for (const answer of await Promise.all(good)) accepted(answer);
      for (const answer of await Promise.all(hostile)) expectError(answer, 400, 'MALFORMED_JSON');
      for (const answer of await Promise.all(odd)) expect(answer.status).toBeLessThan(500);
    });
    for (const path of ['/api/v1/auth/login', '/api/v1/auth/refresh', '/api/v1/public/consents/verify']) {
      test(`POST ${path} with a text that is no JSON: 400 MALFORMED_JSON`, async () => {
        const headers = { 'content-type': 'application/json' };
        const answer = await shop.http.send({ method: 'POST', path, headers, body: '{', from: '127.0.0.61' });
        expectError(answer, 400, 'MALFORMED_JSON');
      });
    }

    for (const [title, headers] of [
      ['text/plain', { 'content-type': 'text/plain' }],
      ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }],
      ['no media type', { 'content-type': undefined }],
      ['a media type that is none', { 'content-type': 'json' }],
    ] as const) {
      test(`A body of ${title}: 415 UNSUPPORTED_MEDIA_TYPE`, async () => {
        expectError(await shop.consent(shop.cookieConsent(), { headers }), 415, 'UNSUPPORTED_MEDIA_TYPE');
      });
    }
    test('A compressed body: 415 UNSUPPORTED_MEDIA_TYPE', async () => {
      const body = gzipSync(JSON.stringify(shop.cookieConsent()));
      const answer = await shop.consent(null, { body, headers: { 'content-encoding': 'gzip' } });
      expectError(answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
    });
    for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON']) {
      test(`A body of ${type} is taken`, async () => {
        accepted(await shop.consent(shop.cookieConsent(), { headers: { 'content-type': type } }));
      });
    }
    for (const [path, bytes] of [
      ['/tool/v1/consents', 8_000_000],
      ['/tool/v1/s2s/consents', 8_000_000],
      ['/tool/v1/s2s/approval-tokens', 2_000_000],
    ] as const) {
      test(`A body of ${bytes} bytes at ${path}: 413 PAYLOAD_TOO_LARGE`, async () => {
        const body = JSON.stringify({ metadata: 'x'.repeat(bytes) });
        expectError(await shop.postS2s(path, null, { body }), 413, 'PAYLOAD_TOO_LARGE');
      });
    }
  });
}
