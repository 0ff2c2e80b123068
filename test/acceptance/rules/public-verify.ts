import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Acceptance, accepted, at, expectError, retryAfter } from '../support/answers.js';
import type { Answer } from '../support/http.js';
import { newVisitor, type Shop } from '../support/shop.js';
import { eventually, sleep } from '../support/wait.js';
import type { World } from '../support/world.js';
import { uuidOf, verified } from './verify.js';

const PATH = '/api/v1/public/consents/verify';

type Parameters = Readonly<Record<string, string>>;
type Ask = (shop: Shop, parameters: Parameters, from: string) => Promise<Answer>;

const METHODS: Readonly<Record<'GET' | 'POST', Ask>> = {
  GET: (shop, parameters, from) =>
    shop.http.send({ method: 'GET', path: `${PATH}?${new URLSearchParams(parameters)}`, from }),
  POST: (shop, parameters, from) => shop.postOpen(PATH, parameters, { from }),
};

/** Asks again after the time that the service names, if its limit was met: the limit has a rule of its own. */
async function patiently(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 429) return answer;
    await sleep(retryAfter(answer) * 1000);
  }
}

const cookieOf = (fields: Readonly<Record<string, unknown>>): string => encodeURIComponent(JSON.stringify(fields));

const Found = z.object({
  valid: z.boolean(),
  data: z.looseObject({
    decision: z.string(),
    categories: z.record(z.string(), z.boolean()),
    site_domain: z.string(),
    created_at: z.string(),
    hash_valid: z.boolean(),
    is_tsa_stamped: z.boolean(),
  }),
});

/** Specification, Endpoints, Public verify: its parameters, and the four cases of its table, by GET and POST. */
export function publicVerifyRules(world: World): void {
  describe('Public verify', () => {
    let shop: Shop;
    let record: Acceptance;
    let uuid: string;
    const visitor_id = newVisitor();
    const personal = { ip_address: '198.51.100.99', user_agent: 'PublicTill/9', visitor_id };
    const categories = { necessary: true, analytics: false, unheard_of: true };
    beforeAll(async () => {
      shop = await world.shop();
      record = accepted(await shop.s2sConsent(shop.cookieConsent({ ...personal, categories, decision: 'partial' })));
      uuid = await uuidOf(shop, visitor_id);
      await verified(shop, record.consent_token);
    });

    for (const [method, send] of Object.entries(METHODS)) {
      // Each method from an address of its own: the limit is for an address.
      const from = method === 'GET' ? '127.0.0.51' : '127.0.0.52';
      const ask = (parameters: Parameters): Promise<Answer> => patiently(() => send(shop, parameters, from));

      for (const [name, parameters] of [
        ['token', () => ({ token: record.consent_token })],
        ['proof_hash', () => ({ proof_hash: record.proof_hash })],
        ['id', () => ({ id: uuid })],
        ['token with a cookie’s value', () => ({ token: cookieOf({ consent_token: record.consent_token }) })],
      ] as const) {
        test(`${method}: a record that exists is found by ${name}: 200, valid, without any credential`, async () => {
          const answer = await ask(parameters());
          expect(answer.status, answer.text).toBe(200);
          expect(Found.parse(answer.json).valid).toBe(true);
        });
      }
      test(`${method}: decision, categories, site domain, times, hash and stamp are told`, async () => {
        const { data } = Found.parse((await ask({ token: record.consent_token })).json);
        expect(data).toMatchObject({ decision: 'partial', site_domain: shop.seed.site.domain, hash_valid: true });
        expect(Date.parse(data.created_at)).toBe(Date.parse(record.created_at));
      });
      test(`${method}: only categories that the banner defines were stored`, async () => {
        const { data } = Found.parse((await ask({ token: record.consent_token })).json);
        expect(data.categories).toEqual({ necessary: true, analytics: false });
      });
      test(`${method}: IP address, user agent and visitor id are never told`, async () => {
        const { text } = await ask({ token: record.consent_token });
        for (const value of Object.values(personal)) expect(text).not.toContain(value);
      });
      for (const [form, encode] of [
        ['percent-encoded JSON', cookieOf],
        ['JSON', JSON.stringify],
        ['base64url of JSON', (fields: object) => Buffer.from(JSON.stringify(fields)).toString('base64url')],
      ] as const) {
        test(`${method}: a cookie’s value (${form}) without a record: 200, valid false, source client_token, its fields decoded`, async () => {
          const fields = {
            consent_token: `ct_${'1'.repeat(32)}`,
            decision: 'accepted',
            categories: { marketing: true },
          };
          const answer = await ask({ token: encode(fields) });
          expect(answer.status, answer.text).toBe(200);
          expect(answer.json).toMatchObject({ valid: false, source: 'client_token', server_record_found: false });
          expect(at(answer.json, 'data')).toMatchObject({ decision: 'accepted', categories: { marketing: true } });
        });
      }
      for (const [name, parameters] of [
        ['token', { token: `ct_${'1'.repeat(32)}` }],
        ['proof_hash', { proof_hash: '1'.repeat(64) }],
        ['id', { id: '00000000-0000-4000-8000-000000000000' }],
        ['token of no known form', { token: 'nonsense' }],
      ] as const) {
        test(`${method}: an unknown ${name}: 404 with valid false`, async () => {
          const answer = await ask(parameters);
          expectError(answer, 404, 'CONSENT_NOT_FOUND');
          expect(at(answer.json, 'valid')).toBe(false);
        });
      }
      test(`${method}: no identifier: 422`, async () => {
        expectError(await ask({}), 422, 'IDENTIFIER_REQUIRED');
      });
      test(`${method}: an empty identifier: 422`, async () => {
        expectError(await ask({ token: '' }), 422, 'IDENTIFIER_REQUIRED');
      });
    }

    test('Of several identifiers the first that finds a record counts', async () => {
      const parameters = { token: `ct_${'1'.repeat(32)}`, proof_hash: record.proof_hash };
      const { json } = await patiently(() => METHODS.POST(shop, parameters, '127.0.0.54'));
      expect(at(json, 'data', 'proof_hash')).toBe(record.proof_hash);
    });
    test('POST: members that are null count as absent', async () => {
      const body = { token: record.consent_token, proof_hash: null, id: null };
      const found = await patiently(() => shop.postOpen(PATH, body, { from: '127.0.0.55' }));
      expect(at(found.json, 'data', 'proof_hash')).toBe(record.proof_hash);
      const none = await patiently(() => shop.postOpen(PATH, { token: null }, { from: '127.0.0.55' }));
      expectError(none, 422, 'IDENTIFIER_REQUIRED');
    });
    test('POST: no body: 422', async () => {
      const ask = () => shop.http.send({ method: 'POST', path: PATH, from: '127.0.0.55' });
      expectError(await patiently(ask), 422, 'IDENTIFIER_REQUIRED');
    });
    test('POST: identifiers that are no strings: 422', async () => {
      const ask = () => shop.postOpen(PATH, { token: 7 }, { from: '127.0.0.52' });
      expect((await patiently(ask)).status).toBe(422);
    });
    test('It is rate limited: 429 RATE_LIMIT_EXCEEDED with Retry-After and the X-RateLimit headers', async () => {
      const ask = () => METHODS.GET(shop, { proof_hash: '1'.repeat(64) }, '127.0.0.53');
      let answer = await ask();
      for (let i = 0; i < 1000 && answer.status === 404; i++) answer = await ask();
      expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
      retryAfter(answer);
      expect(answer.headers['x-ratelimit-limit']).toMatch(/^\d+$/);
      expect(answer.headers['x-ratelimit-remaining']).toBe('0');
    });
    test('A record is told of as soon as it is stored, of whatever site', async () => {
      const other = await world.otherShop();
      const { proof_hash } = accepted(await other.consent(other.cookieConsent()));
      const answer = await eventually(
        () => patiently(() => METHODS.POST(shop, { proof_hash }, '127.0.0.54')),
        ({ status }) => status === 200,
      );
      expect(at(answer.json, 'data', 'site_domain')).toBe(other.seed.site.domain);
    });
  });
}
