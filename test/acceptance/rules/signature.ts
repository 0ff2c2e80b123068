import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { accepted, errorOf, expectError } from '../support/answers.js';
import type { Answer } from '../support/http.js';
import type { PostOptions, Shop } from '../support/shop.js';
import { signatureHeaders, unixSeconds } from '../support/signing.js';
import { startOfSecond } from '../support/wait.js';
import type { World } from '../support/world.js';

const EVERY_NONCE_CHARACTER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-';

/** A new nonce of this length. */
const nonceOf = (length: number): string => randomUUID().repeat(4).slice(0, length);

/** Specification, Authentication, Request signature. */
export function signatureRules(world: World): void {
  describe('Authentication, request signature', () => {
    let shop: Shop;
    let other: Shop;
    beforeAll(async () => {
      shop = await world.shop();
      other = await world.otherShop();
    });
    const send = (options: PostOptions, fields = {}): Promise<Answer> =>
      shop.consent(shop.cookieConsent(fields), options);

    timestampRules(send);

    for (const [what, nonce] of [
      ['of 8 characters', () => nonceOf(8)],
      ['of 128 characters', () => nonceOf(128)],
      ['that is a UUID', () => randomUUID()],
      ['of every allowed character', () => EVERY_NONCE_CHARACTER + nonceOf(36)],
    ] as const) {
      test(`A nonce ${what} is taken`, async () => {
        accepted(await send({ nonce: nonce() }));
      });
    }
    for (const [what, nonce] of [
      ['of 7 characters', () => nonceOf(7)],
      ['of 129 characters', () => nonceOf(129)],
      ['with a space', () => `${nonceOf(8)} ${nonceOf(8)}`],
      ['with a slash', () => `${nonceOf(20)}/`],
      ['with a plus sign', () => `${nonceOf(20)}+`],
      ['with an equals sign', () => `${nonceOf(20)}=`],
      ['with a letter outside ASCII', () => `${nonceOf(20)}\u00e9`],
    ] as const) {
      test(`A nonce ${what}: 401 INVALID_NONCE`, async () => {
        expectError(await send({ nonce: nonce() }), 401, 'INVALID_NONCE');
      });
    }

    test('A repeated nonce: 401 NONCE_REPLAYED, even with another body and a new timestamp', async () => {
      const nonce = randomUUID();
      accepted(await send({ nonce }));
      expectError(await send({ nonce }), 401, 'NONCE_REPLAYED');
      expectError(await send({ nonce, timestamp: unixSeconds(100) }, { decision: 'rejected' }), 401, 'NONCE_REPLAYED');
    });
    test('The very same request sent twice: the second is NONCE_REPLAYED', async () => {
      const same = { nonce: randomUUID(), timestamp: unixSeconds() };
      accepted(await send(same));
      expectError(await send(same), 401, 'NONCE_REPLAYED');
    });
    test('A nonce counts for the site, on whatever route it was used', async () => {
      const nonce = randomUUID();
      accepted(await send({ nonce }));
      expectError(await shop.batch([shop.cookieConsent()], { nonce }), 401, 'NONCE_REPLAYED');
      expectError(await shop.s2sConsent(shop.cookieConsent(), { nonce }), 401, 'NONCE_REPLAYED');
      expectError(await shop.mint({}, { nonce }), 401, 'NONCE_REPLAYED');
    });
    test('A nonce of minting an approval token is used up as well', async () => {
      const nonce = randomUUID();
      expect((await shop.mint({}, { nonce })).status).toBe(201);
      expectError(await send({ nonce }), 401, 'NONCE_REPLAYED');
    });
    test('Another site may use the same nonce', async () => {
      const nonce = randomUUID();
      accepted(await send({ nonce }));
      accepted(await other.consent(other.cookieConsent(), { nonce }));
    });
    test('Of ten requests at once with one nonce exactly one is accepted', async () => {
      const nonce = randomUUID();
      const answers = await Promise.all(Array.from({ length: 10 }, () => send({ nonce })));
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
      for (const answer of answers) if (answer.status !== 202) expectError(answer, 401, 'NONCE_REPLAYED');
    });
    for (const [what, options, fields, code] of [
      ['failed validation', {}, { decision: 'perhaps' }, 'VALIDATION_ERROR'],
      ['named no document version', {}, { document_version_id: undefined }, 'CONFIG_OUTDATED'],
      ['was no JSON', { body: '{' }, {}, 'MALFORMED_JSON'],
    ] as const) {
      test(`The nonce of a request that ${what} is used up`, async () => {
        const nonce = randomUUID();
        expect(errorOf(await send({ ...options, nonce }, fields)).code).toBe(code);
        expectError(await send({ nonce }), 401, 'NONCE_REPLAYED');
      });
    }
    test('A wrong signature uses no nonce up', async () => {
      const nonce = randomUUID();
      expectError(await send({ nonce, signingKey: 'another' }), 401, 'INVALID_SIGNATURE');
      accepted(await send({ nonce }));
    });

    for (const [what, options] of [
      ['made with another key', { signingKey: 'svc_live_another' }],
      ['over the method in lower case', { signedMethod: 'post' }],
      ['over another method', { signedMethod: 'PUT' }],
      ['over another path', { signedPath: '/tool/v1/consents/batch' }],
      ['over the path without /tool/v1', { signedPath: '/consents' }],
      ['over another body', { signedBody: '{}' }],
      ['over another timestamp', { headers: { 'x-timestamp': unixSeconds(-5) } }],
      ['over another nonce', { headers: { 'x-nonce': 'another-nonce' } }],
      ['that is empty', { headers: { 'x-signature': ' ' } }],
      ['that is no hex', { headers: { 'x-signature': 'z'.repeat(64) } }],
      ['that is too short', { headers: { 'x-signature': 'ab' } }],
    ] as const) {
      test(`A signature ${what} is refused: 401`, async () => {
        const answer = await send(options);
        expect(answer.status).toBe(401);
        expect(['INVALID_SIGNATURE', 'MISSING_SIGNATURE_HEADERS']).toContain(errorOf(answer).code);
      });
    }
    test('A signature with the site’s read key is no signature with the write key', async () => {
      expectError(await send({ signingKey: shop.readKey }), 401, 'INVALID_SIGNATURE');
    });
    test('A signature in upper-case hex: 401 INVALID_SIGNATURE', async () => {
      const body = JSON.stringify(shop.cookieConsent());
      const { 'x-signature': signature, ...rest } = signatureHeaders(shop.writeKey, '/tool/v1/consents', body);
      const headers = { ...rest, 'x-signature': signature?.toUpperCase() };
      expectError(await shop.consent(null, { body, headers }), 401, 'INVALID_SIGNATURE');
    });
    test('The signature is over the exact bytes: the same JSON with other white space is refused', async () => {
      const consent = shop.cookieConsent();
      const options = { body: JSON.stringify(consent, null, 2), signedBody: JSON.stringify(consent) };
      expectError(await shop.consent(null, options), 401, 'INVALID_SIGNATURE');
    });
    test('The signature is over the exact bytes: white space and UTF-8 of the caller’s own are taken as they are', async () => {
      const consent = shop.cookieConsent({ metadata: { note: 'Çerez – “tamam” 🍪' } });
      accepted(await shop.consent(null, { body: `\n ${JSON.stringify(consent, null, '\t')}\r\n` }));
    });
    test('The path is signed without the query', async () => {
      accepted(await shop.post('/tool/v1/consents?attempt=1', shop.cookieConsent()));
    });
    test('A path signed with the query: 401 INVALID_SIGNATURE', async () => {
      const path = '/tool/v1/consents?attempt=1';
      expectError(await shop.post(path, shop.cookieConsent(), { signedPath: path }), 401, 'INVALID_SIGNATURE');
    });
    test('A retry with a new timestamp, nonce and signature is accepted', async () => {
      accepted(await send({}));
      accepted(await send({}));
    });
    test('Without a right signature nothing is said of the body: 401 before 422 and 409', async () => {
      expectError(await shop.consent({}, { signingKey: 'another' }), 401, 'INVALID_SIGNATURE');
      const retired = shop.version(shop.cookieDocument, 'en', 'retired');
      expectError(await send({ signingKey: 'another' }, { document_version_id: retired }), 401, 'INVALID_SIGNATURE');
    });
  });
}

function timestampRules(send: (options: PostOptions) => Promise<Answer>): void {
  // Sent when a second has just begun, and sent again if the answer took so long that the edge may have been passed.
  const sendAtEdge = async (offset: number): Promise<Answer> => {
    for (;;) {
      await startOfSecond();
      const before = Date.now();
      const answer = await send({ timestamp: unixSeconds(offset) });
      if (Date.now() - before < 700) return answer;
    }
  };
  for (const offset of [-299, 300]) {
    test(`A timestamp ${Math.abs(offset)} s ${offset < 0 ? 'old' : 'ahead'} is within the window`, async () => {
      accepted(await sendAtEdge(offset));
    });
  }
  for (const offset of [-301, 301]) {
    test(`A timestamp ${Math.abs(offset)} s ${offset < 0 ? 'old' : 'ahead'}: 401 TIMESTAMP_EXPIRED`, async () => {
      expectError(await sendAtEdge(offset), 401, 'TIMESTAMP_EXPIRED');
    });
  }
  test('A timestamp in milliseconds: 401 TIMESTAMP_EXPIRED', async () => {
    expectError(await send({ timestamp: String(Date.now()) }), 401, 'TIMESTAMP_EXPIRED');
  });
  for (const timestamp of ['yesterday', '1e9', '0x65000000', '-1', 'NaN', 'Infinity', '9'.repeat(400)]) {
    test(`A timestamp “${timestamp.slice(0, 20)}” is refused: 401`, async () => {
      expect((await send({ timestamp })).status).toBe(401);
    });
  }
}
