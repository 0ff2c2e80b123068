import { beforeAll, describe, expect, test } from 'vitest';
import { accepted, at } from '../support/answers.js';
import type { Shop } from '../support/shop.js';
import type { World } from '../support/world.js';

const ROUTES = ['browser', 's2s'] as const;

/** Specification, Resources, Consent acceptance result; Endpoints, Record consent. */
export function acceptanceResultRules(world: World): void {
  describe('Consent acceptance result', () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await world.shop();
    });

    for (const route of ROUTES) {
      const record = () =>
        route === 's2s' ? shop.s2sConsent(shop.cookieConsent()) : shop.consent(shop.cookieConsent());
      test(`A recorded consent answers 202 (${route})`, async () => {
        expect((await record()).status).toBe(202);
      });
      test(`message is a text (${route})`, async () => {
        expect(at((await record()).json, 'message')).toMatch(/\S/);
      });
      test(`data.consent_token starts with ct_ (${route})`, async () => {
        expect(accepted(await record()).consent_token).toMatch(/^ct_./);
      });
      test(`data.proof_hash is 64 hex characters, without an algorithm’s name before it (${route})`, async () => {
        expect(accepted(await record()).proof_hash).toMatch(/^[0-9a-f]{64}$/);
      });
      test(`data.created_at is ISO 8601 with offset, and is now (${route})`, async () => {
        const { created_at } = accepted(await record());
        expect(created_at).toMatch(/(?:Z|[+-]\d\d:\d\d)$/);
        expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(60_000);
      });
      test(`data.duplicate is false for a new record (${route})`, async () => {
        expect(accepted(await record()).duplicate).toBe(false);
      });
    }
    test('Two consents alike are two records, with tokens and proof hashes of their own', async () => {
      const consent = shop.cookieConsent();
      const [first, second] = [accepted(await shop.consent(consent)), accepted(await shop.consent(consent))];
      expect(second.consent_token).not.toBe(first.consent_token);
      expect(second.proof_hash).not.toBe(first.proof_hash);
    });
    test('A document approval without the need of a token is accepted', async () => {
      accepted(await shop.consent(shop.cookieConsent({ consent_type: 'document_approval' })));
    });
  });
}
