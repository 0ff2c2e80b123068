import { beforeAll, describe, expect, test } from 'vitest';
import { accepted, acceptedItem, batchResult, expectError, retryAfter } from '../support/answers.js';
import type { Answer } from '../support/http.js';
import { newKey, type Shop } from '../support/shop.js';
import { sleep } from '../support/wait.js';
import type { World } from '../support/world.js';

const QUOTA_TENANT = ['--rate-limit', '100000', '--quota'] as const;

/** Specification, Limits and Errors: the plan's quota, to the unit. */
export function quotaRules(world: World): void {
  describe('Quota', () => {
    const shopOf = (quota: number): Promise<Shop> => world.seed(...QUOTA_TENANT, String(quota));
    const record = (shop: Shop, fields = {}): Promise<Answer> => shop.consent(shop.cookieConsent(fields));

    test('As many consents as the quota are accepted, the next one is 429 CONSENT_LIMIT_EXCEEDED with Retry-After', async () => {
      const shop = await shopOf(3);
      for (let i = 0; i < 3; i++) accepted(await record(shop));
      const answer = await record(shop);
      expectError(answer, 429, 'CONSENT_LIMIT_EXCEEDED');
      retryAfter(answer);
      expectError(await shop.s2sConsent(shop.cookieConsent()), 429, 'CONSENT_LIMIT_EXCEEDED');
    });
    test('Of thirty consents at once, exactly as many as the quota are accepted', async () => {
      const shop = await shopOf(7);
      const answers = await Promise.all(Array.from({ length: 30 }, () => record(shop)));
      expect(answers.filter(({ status }) => status === 202)).toHaveLength(7);
      for (const answer of answers) if (answer.status !== 202) expectError(answer, 429, 'CONSENT_LIMIT_EXCEEDED');
    });
    test('A batch is accepted up to the quota: further items are rejected with error_code and code 429', async () => {
      const shop = await shopOf(3);
      const result = batchResult(await shop.batch(Array.from({ length: 5 }, () => shop.cookieConsent())));
      expect(result).toMatchObject({ accepted: 3, rejected: 2 });
      for (const index of [0, 1, 2]) acceptedItem(result, index);
      for (const index of [3, 4]) {
        expect(result.results[index]).toMatchObject({
          index,
          status: 'rejected',
          error_code: 'CONSENT_LIMIT_EXCEEDED',
          code: 429,
        });
      }
    });
    test('Duplicates use no quota, and come back after it was used up; inside a batch as well', async () => {
      const shop = await shopOf(2);
      const idempotency_key = newKey();
      const first = accepted(await record(shop, { idempotency_key }));
      for (let i = 0; i < 3; i++) expect(accepted(await record(shop, { idempotency_key })).duplicate).toBe(true);
      accepted(await record(shop));
      expectError(await record(shop), 429, 'CONSENT_LIMIT_EXCEEDED');
      expect(accepted(await record(shop, { idempotency_key }))).toEqual({ ...first, duplicate: true });
      const result = batchResult(await shop.batch([shop.cookieConsent({ idempotency_key }), shop.cookieConsent()]));
      expect(acceptedItem(result, 0).duplicate).toBe(true);
      expect(result.results[1]).toMatchObject({ status: 'rejected', error_code: 'CONSENT_LIMIT_EXCEEDED' });
    });
    test('Refused requests use no quota', async () => {
      const shop = await shopOf(1);
      expectError(await record(shop, { decision: 'perhaps' }), 422, 'VALIDATION_ERROR');
      expectError(await record(shop, { document_version_id: undefined }), 409, 'CONFIG_OUTDATED');
      expectError(await shop.consent(shop.approval()), 422, 'APPROVAL_TOKEN_REQUIRED');
      expectError(await shop.consent(shop.cookieConsent(), { signingKey: 'another' }), 401, 'INVALID_SIGNATURE');
      expectError(
        await shop.batch([shop.cookieConsent(), shop.cookieConsent({ decision: 'perhaps' })]),
        422,
        'VALIDATION_ERROR',
      );
      expectError(
        await shop.batch([shop.cookieConsent(), shop.cookieConsent({ document_version_id: undefined })]),
        409,
        'CONFIG_OUTDATED',
      );
      accepted(await record(shop));
      expectError(await record(shop), 429, 'CONSENT_LIMIT_EXCEEDED');
    });
    test('The quota is for recording: configuration, status and approval tokens are served without any left', async () => {
      const shop = await shopOf(0);
      expect((await shop.get('/tool/v1/config')).status).toBe(200);
      expect((await shop.get('/tool/v1/consents/status?visitor_id=somebody')).status).toBe(200);
      expect((await shop.mint()).status).toBe(201);
      expectError(await record(shop), 429, 'CONSENT_LIMIT_EXCEEDED');
    });
    test('A tenant without an active plan: 429 NO_CONSENT_SUBSCRIPTION', async () => {
      const shop = await world.seed('--no-subscription');
      expectError(await record(shop), 429, 'NO_CONSENT_SUBSCRIPTION');
      expectError(await shop.s2sConsent(shop.cookieConsent()), 429, 'NO_CONSENT_SUBSCRIPTION');
    });
  });
}

const LIMIT = 20;

/** Requests sent at once, so that a slow machine, too, sends more than the limit within a minute. */
const AT_ONCE = 10;

/** Sends until the limit is met. @returns every answer, the last of which is no success */
async function untilRefused(ask: () => Promise<Answer>, atMost: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  while (answers.length < atMost && (answers.at(-1)?.status ?? 0) < 400) {
    const some = await Promise.all(Array.from({ length: AT_ONCE }, ask));
    answers.push(...some.sort((a, b) => a.status - b.status));
  }
  return answers;
}

/** Specification, Limits and Errors: the plan's rate limit. */
export function rateLimitRules(world: World): void {
  describe('Rate limit', () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await world.seed('--rate-limit', String(LIMIT), '--quota', '1000');
    });
    const refused = async (): Promise<Answer> => {
      const answers = await untilRefused(() => shop.get('/tool/v1/ping'), 3 * LIMIT);
      const last = answers.at(-1);
      if (last === undefined) throw new Error('nothing was asked');
      return last;
    };

    test('The standard plan allows 120 requests a minute: X-RateLimit-Limit says so', async () => {
      const standard = await world.seed();
      const answer = await standard.get('/tool/v1/ping');
      expect(answer.headers['x-ratelimit-limit']).toBe('120');
      const answers = await untilRefused(() => standard.get('/tool/v1/ping'), 360);
      expectError(answers.at(-1) ?? answer, 429, 'RATE_LIMIT_EXCEEDED');
      // The clock's minute may have changed once meanwhile.
      expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(2 * 120);
    });
    test('X-RateLimit-Remaining counts down', async () => {
      const fresh = await world.seed('--rate-limit', '50');
      const left: number[] = [];
      for (let i = 0; i < 5; i++) {
        const { headers } = await fresh.get('/tool/v1/ping');
        expect(headers['x-ratelimit-limit']).toBe('50');
        left.push(Number(headers['x-ratelimit-remaining']));
      }
      for (const remaining of left) {
        expect(remaining).toBeGreaterThanOrEqual(45);
        expect(remaining).toBeLessThan(50);
      }
      expect(new Set(left).size).toBeGreaterThanOrEqual(3);
    });
    test('Beyond the limit: 429 RATE_LIMIT_EXCEEDED with Retry-After, X-RateLimit-Limit and X-RateLimit-Remaining 0', async () => {
      const answer = await refused();
      expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
      expect(retryAfter(answer)).toBeLessThanOrEqual(61);
      expect(answer.headers['x-ratelimit-limit']).toBe(String(LIMIT));
      expect(answer.headers['x-ratelimit-remaining']).toBe('0');
    });
    test('The IETF RateLimit and RateLimit-Policy headers stand beside them', async () => {
      const { headers } = await refused();
      expect(headers.ratelimit).toMatch(/r=0\b/);
      expect(headers['ratelimit-policy']).toMatch(new RegExp(`q=${LIMIT}\\b`));
    });
    test('No more than the limit is served in any one minute, also of requests at once', async () => {
      const fresh = await world.seed('--rate-limit', String(LIMIT));
      const minute = (): number => Math.floor(Date.now() / 60_000);
      const before = minute();
      const answers = await Promise.all(Array.from({ length: 3 * LIMIT }, () => fresh.get('/tool/v1/ping')));
      const served = answers.filter(({ status }) => status === 200).length;
      if (minute() === before) expect(served).toBe(LIMIT);
      else expect(served).toBeLessThanOrEqual(2 * LIMIT);
      for (const answer of answers) if (answer.status !== 200) expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
    });
    test('Recording counts as well, also requests that are refused', async () => {
      const fresh = await world.seed('--rate-limit', '6', '--quota', '1000');
      const answers: Answer[] = [];
      for (let i = 0; i < 18 && answers.at(-1)?.status !== 429; i++) {
        answers.push(await fresh.consent(fresh.cookieConsent(i % 2 === 0 ? {} : { decision: 'perhaps' })));
      }
      for (const { status } of answers.slice(0, -1)) expect([202, 422]).toContain(status);
      expect(answers.at(-1)?.status).toBe(429);
    });
    test('All keys of the tenant share the limit', async () => {
      const fresh = await world.seed('--rate-limit', '6');
      const answers: Answer[] = [];
      for (let i = 0; i < 18 && answers.at(-1)?.status !== 429; i++) {
        answers.push(await fresh.get('/tool/v1/ping', { key: i % 2 === 0 ? fresh.readKey : fresh.writeKey }));
      }
      expect(answers.length).toBeLessThanOrEqual(13);
      expect(answers.at(-1)?.status).toBe(429);
    });
    test('Another tenant is not touched by it', async () => {
      await refused();
      expect((await (await world.shop()).get('/tool/v1/ping')).status).toBe(200);
    });
    test('A request refused by the limit consumes no approval token; after Retry-After it is accepted', async () => {
      const small = await world.seed('--rate-limit', '2', '--quota', '10');
      const { approval_token } = await small.minted();
      const send = (): Promise<Answer> => small.consent(small.approval({ approval_token }));
      // Not accepted whenever it comes through: the document version is retired.
      const retired = small.version(small.approvalDocument, 'en', 'retired');
      const sendRetired = (): Promise<Answer> =>
        small.consent(small.approval({ approval_token, document_version_id: retired }));
      let answer = await sendRetired();
      for (let i = 0; i < 9 && answer.status !== 429; i++) answer = await sendRetired();
      expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
      answer = await send();
      if (answer.status === 429) {
        expectError(answer, 429, 'RATE_LIMIT_EXCEEDED');
        await sleep((retryAfter(answer) + 1) * 1000);
        answer = await send();
      }
      accepted(answer);
    });
  });
}
