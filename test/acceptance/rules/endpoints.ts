import { beforeAll, describe, expect, test } from 'vitest';
import { accepted, expectError } from '../support/answers.js';
import type { Answer } from '../support/http.js';
import { newVisitor, type Shop } from '../support/shop.js';
import { SCANNER_HOST } from '../support/target.js';
import type { World } from '../support/world.js';

interface Endpoint {
  readonly title: string;
  readonly status: number;
  readonly call: (shop: Shop) => Promise<Answer>;
}

const GETS = ['/tool/v1/ping', '/tool/v1/config', '/tool/v1/documents/active'] as const;
const POSTS = [
  '/tool/v1/consents',
  '/tool/v1/consents/batch',
  '/tool/v1/s2s/consents',
  '/tool/v1/s2s/consents/batch',
  '/tool/v1/s2s/approval-tokens',
] as const;

const verifyPath = '/api/v1/public/consents/verify';

const ENDPOINTS: readonly Endpoint[] = [
  ...GETS.map((path) => ({ title: `GET ${path}`, status: 200, call: (shop: Shop) => shop.get(path) })),
  {
    title: 'GET /tool/v1/documents/{slug}/active',
    status: 200,
    call: (shop) => shop.get(`/tool/v1/documents/${shop.cookieDocument.slug}/active`),
  },
  { title: 'POST /tool/v1/consents', status: 202, call: (shop) => shop.consent(shop.cookieConsent()) },
  { title: 'POST /tool/v1/consents/batch', status: 202, call: (shop) => shop.batch([shop.cookieConsent()]) },
  { title: 'POST /tool/v1/s2s/consents', status: 202, call: (shop) => shop.s2sConsent(shop.cookieConsent()) },
  {
    title: 'POST /tool/v1/s2s/consents/batch',
    status: 202,
    call: (shop) => shop.postS2s('/tool/v1/s2s/consents/batch', { consents: [shop.cookieConsent()] }),
  },
  { title: 'POST /tool/v1/s2s/approval-tokens', status: 201, call: (shop) => shop.mint() },
  {
    title: 'GET /tool/v1/s2s/consents/export',
    status: 200,
    call: (shop) => shop.getS2s('/tool/v1/s2s/consents/export'),
  },
  {
    title: 'GET /tool/v1/consents/status',
    status: 200,
    call: (shop) => shop.get(`/tool/v1/consents/status?visitor_id=${newVisitor()}`),
  },
  {
    title: 'GET /tool/v1/consents/verify/{id} (of an unknown id)',
    status: 404,
    call: (shop) => shop.get(`/tool/v1/consents/verify/${'0'.repeat(64)}`),
  },
  {
    title: 'GET /api/v1/public/consents/verify (of an unknown id)',
    status: 404,
    call: (shop) => shop.http.send({ method: 'GET', path: `${verifyPath}?proof_hash=${'0'.repeat(64)}` }),
  },
  {
    title: 'POST /api/v1/public/consents/verify (of an unknown id)',
    status: 404,
    call: (shop) => shop.postOpen(verifyPath, { proof_hash: '0'.repeat(64) }),
  },
  {
    title: 'POST /api/v1/auth/login',
    status: 200,
    call: (shop) => shop.postOpen('/api/v1/auth/login', shop.seed.api_user),
  },
  {
    title: 'POST /api/v1/auth/refresh',
    status: 200,
    call: async (shop) => {
      const { refresh_token } = await shop.signIn(shop.seed.api_user);
      return shop.postOpen('/api/v1/auth/refresh', { refresh_token });
    },
  },
  {
    title: 'GET /api/v1/auth/me',
    status: 200,
    call: async (shop) => {
      const { access_token } = await shop.signIn(shop.seed.panel_user);
      const headers = { authorization: `Bearer ${access_token}` };
      return shop.http.send({ method: 'GET', path: '/api/v1/auth/me', headers });
    },
  },
];

const READING = [
  ...GETS,
  '/tool/v1/documents/cookie-policy/active',
  '/tool/v1/consents/status?visitor_id=somebody',
  `/tool/v1/consents/verify/${'0'.repeat(64)}`,
] as const;

/** Specification, Endpoints: the table of routes, and the rights of the key's scope. */
export function endpointRules(world: World): void {
  describe('Endpoints', () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await world.shop();
    });

    for (const { title, status, call } of ENDPOINTS) {
      test(`${title} answers ${status}, in JSON`, async () => {
        const answer = await call(shop);
        expect(answer.status, answer.text).toBe(status);
        expect(answer.json).toBeTypeOf('object');
      });
    }

    for (const path of [...READING, '/tool/v1/s2s/consents/export']) {
      test(`GET ${path} needs an API key`, async () => {
        const answer = await shop.get(path, { headers: { 'x-api-key': undefined } });
        expectError(answer, 401, 'MISSING_API_KEY');
      });
    }

    for (const path of READING) {
      test(`GET ${path} takes a key of scope write as well as one of scope read`, async () => {
        const read = await shop.get(path, { key: shop.readKey });
        const write = await shop.get(path, { key: shop.writeKey });
        expect([200, 404]).toContain(read.status);
        expect(write.status, write.text).toBe(read.status);
      });
    }

    for (const path of POSTS) {
      test(`POST ${path} needs an API key`, async () => {
        const answer = await shop.postS2s(path, {}, { headers: { 'x-api-key': undefined } });
        expectError(answer, 401, 'MISSING_API_KEY');
      });
      test(`POST ${path} refuses a key of scope read: 403`, async () => {
        const answer = await shop.postS2s(path, shop.cookieConsent(), { key: shop.readKey });
        expectError(answer, 403, 'INSUFFICIENT_SCOPE');
      });
      for (const header of ['x-signature', 'x-timestamp', 'x-nonce']) {
        test(`POST ${path} needs the header ${header}`, async () => {
          const answer = await shop.postS2s(path, shop.cookieConsent(), { headers: { [header]: undefined } });
          expectError(answer, 401, 'MISSING_SIGNATURE_HEADERS');
        });
      }
    }

    test('GET requests need no signature', async () => {
      expect((await shop.get('/tool/v1/config')).status).toBe(200);
    });

    test.skipIf(SCANNER_HOST === null)('The second host serves /tool/v1, reading and recording', async () => {
      const headers = { host: SCANNER_HOST ?? undefined };
      expect((await shop.get('/tool/v1/ping', { headers })).status).toBe(200);
      accepted(await shop.consent(shop.cookieConsent(), { headers }));
    });
    test.skipIf(SCANNER_HOST === null)('The second host serves nothing but /tool/v1', async () => {
      const headers = { host: SCANNER_HOST ?? undefined };
      const answer = await shop.http.send({ method: 'GET', path: `${verifyPath}?id=x`, headers });
      expectError(answer, 404, 'ROUTE_NOT_FOUND');
    });
  });
}
