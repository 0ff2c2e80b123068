import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { accepted, expectError, retryAfter } from '../support/answers.js';
import type { Shop } from '../support/shop.js';
import type { World } from '../support/world.js';

const unknownKey = (): string => `svc_live_${randomBytes(32).toString('base64url')}`;
const ORIGIN = 'https://shop.example';

/** Specification, Authentication: the key on every request, site verification, allow-lists. */
export function apiKeyRules(world: World): void {
  describe('Authentication, API key', () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await world.shop();
    });

    test('Keys have the form svc_live_…', () => {
      for (const key of Object.values(shop.seed.keys)) expect(key).toMatch(/^svc_live_[A-Za-z0-9_-]+$/);
    });
    test('An absent key: 401 MISSING_API_KEY', async () => {
      expectError(await shop.get('/tool/v1/ping', { headers: { 'x-api-key': undefined } }), 401, 'MISSING_API_KEY');
    });
    test('An unknown key of the right form: 401 INVALID_API_KEY', async () => {
      expectError(await shop.get('/tool/v1/ping', { key: unknownKey() }), 401, 'INVALID_API_KEY');
    });
    for (const [what, change] of [
      ['of another form', () => 'not-a-key'],
      ['with one character changed', (key: string) => key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A')],
      ['with one character missing', (key: string) => key.slice(0, -1)],
      ['in upper case', (key: string) => key.toUpperCase()],
    ] as const) {
      test(`A key ${what}: 401 INVALID_API_KEY`, async () => {
        expectError(await shop.get('/tool/v1/ping', { key: change(shop.readKey) }), 401, 'INVALID_API_KEY');
      });
    }
    test('A signed POST with an unknown key: 401 INVALID_API_KEY', async () => {
      expectError(await shop.consent(shop.cookieConsent(), { key: unknownKey() }), 401, 'INVALID_API_KEY');
    });
    test('Without a key nothing is said of the body: 401 before 422', async () => {
      expectError(await shop.consent({}, { headers: { 'x-api-key': undefined } }), 401, 'MISSING_API_KEY');
    });

    describe('of a site that is not verified', () => {
      let unverified: Shop;
      beforeAll(async () => {
        unverified = await world.seed('--unverified');
      });
      for (const path of ['/tool/v1/ping', '/tool/v1/config', '/tool/v1/documents/active']) {
        test(`GET ${path}: 403 SITE_NOT_VERIFIED`, async () => {
          expectError(await unverified.get(path), 403, 'SITE_NOT_VERIFIED');
        });
      }
      test('POST /tool/v1/consents: 403 SITE_NOT_VERIFIED', async () => {
        expectError(await unverified.consent(unverified.cookieConsent()), 403, 'SITE_NOT_VERIFIED');
      });
      test('POST /tool/v1/s2s/approval-tokens: 403 SITE_NOT_VERIFIED', async () => {
        expectError(await unverified.mint(), 403, 'SITE_NOT_VERIFIED');
      });
    });

    describe('of a site with a list of origins', () => {
      let listed: Shop;
      beforeAll(async () => {
        listed = await world.seed('--allowed-origin', ORIGIN, '--allowed-origin', 'https://www.shop.example:8443');
      });
      for (const origin of [ORIGIN, 'https://www.shop.example:8443']) {
        test(`A browser of the allowed origin ${origin} reads and records`, async () => {
          expect((await listed.get('/tool/v1/config', { headers: { origin } })).status).toBe(200);
          accepted(await listed.consent(listed.cookieConsent(), { headers: { origin } }));
        });
      }
      for (const origin of [
        'https://evil.example',
        'http://shop.example',
        'https://shop.example:8443',
        'https://shop.example.evil.example',
        'https://sub.shop.example',
        'null',
      ]) {
        test(`A browser of the origin ${origin}: 403 ORIGIN_NOT_ALLOWED`, async () => {
          expectError(await listed.get('/tool/v1/config', { headers: { origin } }), 403, 'ORIGIN_NOT_ALLOWED');
        });
      }
      test('A consent from another origin: 403 ORIGIN_NOT_ALLOWED', async () => {
        const headers = { origin: 'https://evil.example' };
        expectError(await listed.consent(listed.cookieConsent(), { headers }), 403, 'ORIGIN_NOT_ALLOWED');
      });
      test('A request that names no origin comes from no browser and is served', async () => {
        expect((await listed.get('/tool/v1/config')).status).toBe(200);
      });
    });
    test('A site without a list of origins serves browsers of every origin', async () => {
      const answer = await shop.get('/tool/v1/config', { headers: { origin: 'https://anything.example' } });
      expect(answer.status).toBe(200);
    });

    test('An address outside the site’s list: 403 IP_NOT_ALLOWED, reading and recording', async () => {
      const listed = await world.seed('--allowed-ip', '192.0.2.0/24', '--allowed-ip', '2001:db8::/32');
      expectError(await listed.get('/tool/v1/ping'), 403, 'IP_NOT_ALLOWED');
      expectError(await listed.consent(listed.cookieConsent()), 403, 'IP_NOT_ALLOWED');
    });
    test('An X-Forwarded-For of the caller’s own does not get it past the list of addresses', async () => {
      const listed = await world.seed('--allowed-ip', '192.0.2.7');
      const headers = { 'x-forwarded-for': '192.0.2.7', forwarded: 'for=192.0.2.7', 'x-real-ip': '192.0.2.7' };
      expectError(await listed.get('/tool/v1/ping', { headers }), 403, 'IP_NOT_ALLOWED');
    });
    test('An address in the site’s list is served', async () => {
      const listed = await world.seed('--allowed-ip', '0.0.0.0/0', '--allowed-ip', '::/0');
      expect((await listed.get('/tool/v1/ping')).status).toBe(200);
    });
  });
}

/** Specification, Errors: guessing keys. It leaves its address refused for a minute, so it uses one that no other rule does. */
export function keyGuessingRules(world: World): void {
  describe('Limits, invalid keys', () => {
    test('Too many requests with invalid keys from one address: 429 TOO_MANY_INVALID_API_KEYS, with Retry-After; valid keys go on working', async () => {
      const shop = await world.shop();
      let answer = await shop.get('/tool/v1/ping', { key: unknownKey(), from: '127.0.0.41' });
      for (let i = 0; i < 500 && answer.status === 401; i++) {
        expectError(answer, 401, 'INVALID_API_KEY');
        answer = await shop.get('/tool/v1/ping', { key: unknownKey(), from: '127.0.0.41' });
      }
      expectError(answer, 429, 'TOO_MANY_INVALID_API_KEYS');
      expect(retryAfter(answer)).toBeLessThanOrEqual(3600);
      const valid = await shop.get('/tool/v1/ping', { from: '127.0.0.41' });
      expect(valid.status, 'a valid key from the same address goes on working').toBe(200);
    });
  });
}
