import { beforeAll, describe, expect, test } from 'vitest';
import { accepted, expectError } from '../support/answers.js';
import type { Answer } from '../support/http.js';
import type { Shop } from '../support/shop.js';
import type { World } from '../support/world.js';

const ORIGIN = 'https://shop.example';
const SIGNATURE_HEADERS = ['content-type', 'x-api-key', 'x-signature', 'x-timestamp', 'x-nonce'] as const;

const listOf = (answer: Answer, header: string): string[] =>
  String(answer.headers[header] ?? '')
    .toLowerCase()
    .split(',')
    .map((item) => item.trim());

function expectReadable(answer: Answer, origin: string): void {
  expect(['*', origin]).toContain(answer.headers['access-control-allow-origin']);
}

/** The browser SDK calls from the pages of sites: CORS (Fetch standard), with the headers of the request signature. */
export function corsRules(world: World): void {
  describe('Browsers of other origins', () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await world.shop();
    });
    const preflight = (path: string, method: string, headers: readonly string[]): Promise<Answer> =>
      shop.http.send({
        method: 'OPTIONS',
        path,
        headers: {
          origin: ORIGIN,
          'access-control-request-method': method,
          'access-control-request-headers': headers.join(','),
        },
      });

    for (const path of ['/tool/v1/consents', '/tool/v1/consents/batch']) {
      test(`The preflight of POST ${path} allows the origin, the method and the signature headers`, async () => {
        const answer = await preflight(path, 'POST', SIGNATURE_HEADERS);
        expect([200, 204]).toContain(answer.status);
        expectReadable(answer, ORIGIN);
        expect(listOf(answer, 'access-control-allow-methods')).toContain('post');
        expect(listOf(answer, 'access-control-allow-headers')).toEqual(expect.arrayContaining([...SIGNATURE_HEADERS]));
      });
    }
    for (const path of ['/tool/v1/config', '/tool/v1/documents/active', '/tool/v1/consents/status']) {
      test(`The preflight of GET ${path} allows the origin and X-API-Key`, async () => {
        const answer = await preflight(path, 'GET', ['x-api-key']);
        expect([200, 204]).toContain(answer.status);
        expectReadable(answer, ORIGIN);
        expect(listOf(answer, 'access-control-allow-headers')).toContain('x-api-key');
      });
    }
    test('Answers to a browser can be read by its script', async () => {
      expectReadable(await shop.get('/tool/v1/config', { headers: { origin: ORIGIN } }), ORIGIN);
      const answer = await shop.consent(shop.cookieConsent(), { headers: { origin: ORIGIN } });
      accepted(answer);
      expectReadable(answer, ORIGIN);
    });
    test('Errors can be read by its script as well', async () => {
      const answer = await shop.consent({}, { headers: { origin: ORIGIN } });
      expectError(answer, 422, 'VALIDATION_ERROR');
      expectReadable(answer, ORIGIN);
      const unknown = await shop.get('/tool/v1/config', { key: 'svc_live_unknown', headers: { origin: ORIGIN } });
      expectError(unknown, 401, 'INVALID_API_KEY');
      expectReadable(unknown, ORIGIN);
    });
    test('A page outside the site’s list can read why it is refused', async () => {
      const listed = await world.seed('--allowed-origin', ORIGIN);
      const answer = await listed.get('/tool/v1/config', { headers: { origin: 'https://evil.example' } });
      expectError(answer, 403, 'ORIGIN_NOT_ALLOWED');
      expectReadable(answer, 'https://evil.example');
    });
    test('Scripts may read Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining and Idempotency-Mismatch', async () => {
      const answer = await shop.get('/tool/v1/config', { headers: { origin: ORIGIN } });
      const exposed = listOf(answer, 'access-control-expose-headers');
      for (const header of ['retry-after', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'idempotency-mismatch']) {
        expect(exposed).toContain(header);
      }
    });
    test('No cookie is ever asked for: answers do not allow credentials to any origin', async () => {
      const answer = await shop.get('/tool/v1/config', { headers: { origin: 'https://evil.example' } });
      expect(answer.headers['access-control-allow-credentials']).not.toBe('true');
      expect(answer.headers['set-cookie']).toBeUndefined();
    });
  });
}
