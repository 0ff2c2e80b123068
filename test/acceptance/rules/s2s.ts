import { beforeAll, describe, expect, test } from 'vitest';
import { accepted, acceptedItem, batchResult, expectError } from '../support/answers.js';
import type { Answer } from '../support/http.js';
import type { PostOptions, Shop } from '../support/shop.js';
import type { World } from '../support/world.js';

const ROUTES: readonly {
  readonly title: string;
  readonly call: (shop: Shop, options: PostOptions) => Promise<Answer>;
}[] = [
  {
    title: 'POST /tool/v1/s2s/consents',
    call: (shop, options) => shop.s2sConsent(shop.cookieConsent(), options),
  },
  {
    title: 'POST /tool/v1/s2s/consents/batch',
    call: (shop, options) => shop.postS2s('/tool/v1/s2s/consents/batch', { consents: [shop.cookieConsent()] }, options),
  },
  { title: 'POST /tool/v1/s2s/approval-tokens', call: (shop, options) => shop.mint({}, options) },
  {
    title: 'GET /tool/v1/s2s/consents/export',
    call: (shop, options) => shop.getS2s('/tool/v1/s2s/consents/export', options),
  },
];

const bearer = (token: string): PostOptions => ({ headers: { authorization: `Bearer ${token}` } });

/** Specification, Authentication, Server-to-server routes. */
export function s2sRules(world: World): void {
  describe('Authentication, server to server', () => {
    let shop: Shop;
    let other: Shop;
    beforeAll(async () => {
      shop = await world.shop();
      other = await world.otherShop();
    });

    for (const { title, call } of ROUTES) {
      test(`${title} without a bearer token: 401 MISSING_BEARER_TOKEN`, async () => {
        expectError(await call(shop, { headers: { authorization: undefined } }), 401, 'MISSING_BEARER_TOKEN');
      });
      test(`${title} with a token that is none: 401 INVALID_BEARER_TOKEN`, async () => {
        expectError(await call(shop, bearer('nonsense')), 401, 'INVALID_BEARER_TOKEN');
      });
      test(`${title} with the token of a user who is no api_user: 403 INSUFFICIENT_ROLE`, async () => {
        const { access_token } = await shop.signIn(shop.seed.panel_user);
        expectError(await call(shop, bearer(access_token)), 403, 'INSUFFICIENT_ROLE');
      });
      test(`${title} with the token of another tenant’s api_user: 403 TENANT_MISMATCH`, async () => {
        expectError(await call(shop, bearer(await other.bearer())), 403, 'TENANT_MISMATCH');
      });
    }

    test('A bearer token whose signature was changed: 401 INVALID_BEARER_TOKEN', async () => {
      const [head, payload, signature = ''] = (await shop.bearer()).split('.');
      const changed = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1);
      expectError(await shop.mint({}, bearer(`${head}.${payload}.${changed}`)), 401, 'INVALID_BEARER_TOKEN');
    });
    test('A bearer token whose payload was changed: 401 INVALID_BEARER_TOKEN', async () => {
      const [head, , signature] = (await shop.bearer()).split('.');
      const [, payload] = (await other.bearer()).split('.');
      expectError(await shop.mint({}, bearer(`${head}.${payload}.${signature}`)), 401, 'INVALID_BEARER_TOKEN');
    });
    test('A bearer token of algorithm “none”: 401 INVALID_BEARER_TOKEN', async () => {
      const [, payload] = (await shop.bearer()).split('.');
      const head = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
      expectError(await shop.mint({}, bearer(`${head}.${payload}.`)), 401, 'INVALID_BEARER_TOKEN');
    });
    test('A refresh token is no bearer token: 401 INVALID_BEARER_TOKEN', async () => {
      const { refresh_token } = await shop.signIn(shop.seed.api_user);
      expectError(await shop.mint({}, bearer(refresh_token)), 401, 'INVALID_BEARER_TOKEN');
    });
    test('A wrong bearer token is found before anything is said of the body', async () => {
      expectError(await shop.s2sConsent({}, bearer('nonsense')), 401, 'INVALID_BEARER_TOKEN');
    });
    test('The export needs no signature: API key and bearer token are enough', async () => {
      expect((await shop.getS2s('/tool/v1/s2s/consents/export')).status).toBe(200);
    });

    const s2sOnly = { ip_address: '198.51.100.7', user_agent: 'Till/1', otp_verified: true, otp_reference: 'otp-1' };
    test('S2S consents may set ip_address, user_agent, otp_verified and otp_reference', async () => {
      accepted(await shop.s2sConsent(shop.cookieConsent(s2sOnly)));
      accepted(await shop.s2sConsent(shop.cookieConsent({ ip_address: '2001:db8::7' })));
    });
    test('Batches of S2S consents may set them too', async () => {
      const consents = [shop.cookieConsent(s2sOnly)];
      acceptedItem(batchResult(await shop.postS2s('/tool/v1/s2s/consents/batch', { consents })), 0);
    });
    test('On the browser route the same fields are ignored, whatever they hold', async () => {
      accepted(await shop.consent(shop.cookieConsent(s2sOnly)));
      accepted(await shop.consent(shop.cookieConsent({ ip_address: 'nowhere', user_agent: 7, otp_verified: 'x' })));
    });
    test('An ip_address that is none: 422 VALIDATION_ERROR on the S2S route', async () => {
      const answer = await shop.s2sConsent(shop.cookieConsent({ ip_address: '999.1.1.1' }));
      expectError(answer, 422, 'VALIDATION_ERROR');
    });
  });
}
