import { beforeAll, describe, expect, test } from 'vitest';
import { accepted, acceptedItem, batchResult, errorOf, expectError, expectFieldError } from '../support/answers.js';
import type { Answer } from '../support/http.js';
import { newKey, type Shop } from '../support/shop.js';
import type { World } from '../support/world.js';

type Route = 'browser' | 's2s';

const ROUTES: readonly Route[] = ['browser', 's2s'];
const UNKNOWN_VERSION = '00000000-0000-4000-8000-000000000000';

function send(shop: Shop, route: Route, content: unknown): Promise<Answer> {
  return route === 's2s'
    ? shop.postS2s('/tool/v1/s2s/consents/batch', content)
    : shop.post('/tool/v1/consents/batch', content);
}

/** Specification, Endpoints, Record consent batch; Resources, Batch result. */
export function batchRules(world: World): void {
  describe('Batch', () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await world.shop();
    });

    for (const route of ROUTES) {
      for (const count of [1, 2, 100]) {
        test(`${count} consents: 202, one entry for each, in the order of the request (${route})`, async () => {
          const consents = Array.from({ length: count }, () => shop.cookieConsent());
          const result = batchResult(await send(shop, route, { consents }));
          expect(result.accepted).toBe(count);
          expect(result.rejected).toBe(0);
          expect(result.results.map(({ index }) => index)).toEqual(consents.map((_, index) => index));
          expect(new Set(consents.map((_, index) => acceptedItem(result, index).consent_token)).size).toBe(count);
        });
      }
      for (const [title, content] of [
        ['0 consents', () => ({ consents: [] })],
        ['101 consents', () => ({ consents: Array.from({ length: 101 }, () => shop.cookieConsent()) })],
        ['no key consents', () => ({})],
        ['consents that is an object', () => ({ consents: shop.cookieConsent() })],
        ['consents that is null', () => ({ consents: null })],
        ['a body that is an array', () => [shop.cookieConsent()]],
        ['an item that is no object', () => ({ consents: [shop.cookieConsent(), 7] })],
      ] as const) {
        test(`${title}: 422 VALIDATION_ERROR (${route})`, async () => {
          expectError(await send(shop, route, content()), 422, 'VALIDATION_ERROR');
        });
      }
    }

    test('A field error names the item and the field in errors', async () => {
      const answer = await shop.batch([shop.cookieConsent(), shop.cookieConsent({ decision: 'perhaps' })]);
      expectFieldError(answer, 'decision');
      expect(JSON.stringify(errorOf(answer).errors)).toContain('1');
    });

    const SPOILERS: readonly (readonly [string, number, string, () => Record<string, unknown>])[] = [
      ['a field error', 422, 'VALIDATION_ERROR', () => ({ decision: 'perhaps' })],
      ['a payload beyond its limit', 422, 'METADATA_TOO_LARGE', () => ({ metadata: { a: 'x'.repeat(20_000) } })],
      ['wrong categories', 422, 'INVALID_CATEGORIES', () => ({ categories: { necessary: 1 } })],
      ['an unknown document version', 409, 'CONFIG_OUTDATED', () => ({ document_version_id: UNKNOWN_VERSION })],
      ['no document version', 409, 'CONFIG_OUTDATED', () => ({ document_version_id: undefined })],
      [
        'a retired document version',
        409,
        'CONFIG_OUTDATED',
        () => ({ document_version_id: shop.version(shop.cookieDocument, 'en', 'retired') }),
      ],
    ];
    for (const [what, status, code, fields] of SPOILERS) {
      test(`One item with ${what} rejects the whole batch: ${status} ${code}, and nothing is recorded`, async () => {
        const idempotency_key = newKey();
        const good = shop.cookieConsent({ idempotency_key });
        expectError(await shop.batch([good, shop.cookieConsent(fields())]), status, code);
        expect(accepted(await shop.consent(good)).duplicate).toBe(false);
      });
      test(`A batch rejected for ${what} uses up no approval token`, async () => {
        const { approval_token } = await shop.minted();
        const approval = shop.approval({ approval_token });
        expectError(await shop.batch([approval, shop.cookieConsent(fields())]), status, code);
        accepted(await shop.consent(approval));
      });
    }

    test('An item without the approval token that it needs is rejected alone, with error, error_code and code 422', async () => {
      const result = batchResult(await shop.batch([shop.cookieConsent(), shop.approval(), shop.cookieConsent()]));
      expect(result).toMatchObject({ accepted: 2, rejected: 1 });
      expect(result.results[1]).toMatchObject({
        index: 1,
        status: 'rejected',
        error_code: 'APPROVAL_TOKEN_REQUIRED',
        code: 422,
      });
      acceptedItem(result, 0);
      acceptedItem(result, 2);
    });
    test('One approval token in two items of a batch: the first takes it, the second is rejected', async () => {
      const { approval_token } = await shop.minted();
      const approval = shop.approval({ approval_token });
      const result = batchResult(await shop.batch([approval, approval]));
      acceptedItem(result, 0);
      expect(result.results[1]).toMatchObject({ status: 'rejected', error_code: 'APPROVAL_TOKEN_CONFLICT', code: 422 });
    });
    test('Every approval in a batch may have a token of its own', async () => {
      const tokens = await Promise.all(Array.from({ length: 3 }, () => shop.minted()));
      const approvals = tokens.map(({ approval_token }) => shop.approval({ approval_token }));
      expect(batchResult(await shop.batch(approvals)).accepted).toBe(3);
    });
    test('A batch of 100 with metadata and extra_fields at their limits is taken', async () => {
      const large = { a: 'x'.repeat(16_000) };
      const consents = Array.from({ length: 100 }, () => shop.cookieConsent({ metadata: large, extra_fields: large }));
      expect(batchResult(await shop.batch(consents)).accepted).toBe(100);
    });
  });
}
