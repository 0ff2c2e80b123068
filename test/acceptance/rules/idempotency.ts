import { beforeAll, describe, expect, test } from 'vitest';
import { type Acceptance, accepted, acceptedItem, batchResult, expectError } from '../support/answers.js';
import type { Answer } from '../support/http.js';
import { newKey, newVisitor, type Shop } from '../support/shop.js';
import { eventually, sleep } from '../support/wait.js';
import type { World } from '../support/world.js';
import { statusOf } from './status.js';

type Send = (shop: Shop, fields: Record<string, unknown>) => Promise<Answer>;

const ROUTES: readonly { readonly title: string; readonly send: Send }[] = [
  { title: 'browser', send: (shop, fields) => shop.consent(shop.cookieConsent(fields)) },
  { title: 's2s', send: (shop, fields) => shop.s2sConsent(shop.cookieConsent(fields)) },
];

const isMismatch = (answer: Answer): boolean => answer.headers['idempotency-mismatch'] === 'true';

/** The second acceptance is the first one's, told again. */
function expectRepeated(second: Acceptance, first: Acceptance): void {
  expect(second).toEqual({ ...first, duplicate: true });
}

/** Specification, Record consent, rule 3; States: same idempotency_key within 24 h. */
export function idempotencyRules(world: World): void {
  describe('Idempotency', () => {
    let shop: Shop;
    let other: Shop;
    beforeAll(async () => {
      shop = await world.shop();
      other = await world.otherShop();
    });

    for (const { title, send } of ROUTES) {
      test(`A repeat returns the original token, proof hash and time, with duplicate true and 202 (${title})`, async () => {
        const fields = { idempotency_key: newKey() };
        const first = accepted(await send(shop, fields));
        expect(first.duplicate).toBe(false);
        expectRepeated(accepted(await send(shop, fields)), first);
        expectRepeated(accepted(await send(shop, fields)), first);
      });
      test(`A repeat with the same body carries no Idempotency-Mismatch (${title})`, async () => {
        const fields = { idempotency_key: newKey() };
        const answers = [await send(shop, fields), await send(shop, fields)];
        expect(answers.map((answer) => answer.headers['idempotency-mismatch'])).toEqual([undefined, undefined]);
      });
      test(`A repeat with another body returns the original answer and Idempotency-Mismatch: true (${title})`, async () => {
        const fields = { idempotency_key: newKey() };
        const first = accepted(await send(shop, fields));
        const second = await send(shop, { ...fields, decision: 'rejected' });
        expectRepeated(accepted(second), first);
        expect(isMismatch(second)).toBe(true);
      });
      test(`Of ten requests at once with one key one makes the record, and all get its answer (${title})`, async () => {
        const fields = { idempotency_key: newKey() };
        const answers = await Promise.all(Array.from({ length: 10 }, () => send(shop, fields)));
        const results = answers.map(accepted);
        expect(results.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
        expect(new Set(results.map(({ consent_token }) => consent_token)).size).toBe(1);
        expect(new Set(results.map(({ proof_hash }) => proof_hash)).size).toBe(1);
      });
    }

    test('White space makes no other body', async () => {
      const consent = shop.cookieConsent({ idempotency_key: newKey() });
      const first = accepted(await shop.consent(consent));
      const second = await shop.consent(null, { body: JSON.stringify(consent, null, 2) });
      expectRepeated(accepted(second), first);
      expect(second.headers['idempotency-mismatch']).toBeUndefined();
    });
    test('A repeat creates no second record', async () => {
      const [idempotency_key, visitor_id] = [newKey(), newVisitor()];
      for (let i = 0; i < 3; i++) accepted(await shop.consent(shop.cookieConsent({ idempotency_key, visitor_id })));
      const last = accepted(await shop.consent(shop.cookieConsent({ visitor_id })));
      const isStored = (tokens: readonly string[]) => tokens.includes(last.consent_token);
      expect(await eventually(() => statusOf(shop, visitor_id), isStored)).toHaveLength(2);
    });
    test('A key belongs to its channel: browser and S2S may use the same', async () => {
      const fields = { idempotency_key: newKey() };
      const browser = accepted(await shop.consent(shop.cookieConsent(fields)));
      const s2s = accepted(await shop.s2sConsent(shop.cookieConsent(fields)));
      expect(s2s.duplicate).toBe(false);
      expect(s2s.consent_token).not.toBe(browser.consent_token);
    });
    test('A key belongs to its site: another tenant may use the same', async () => {
      const fields = { idempotency_key: newKey() };
      const first = accepted(await shop.consent(shop.cookieConsent(fields)));
      const second = accepted(await other.consent(other.cookieConsent(fields)));
      expect(second.duplicate).toBe(false);
      expect(second.consent_token).not.toBe(first.consent_token);
    });
    test('A key of a single consent is remembered by a batch', async () => {
      const consent = shop.cookieConsent({ idempotency_key: newKey() });
      const first = accepted(await shop.consent(consent));
      const result = batchResult(await shop.batch([shop.cookieConsent(), consent]));
      expect(acceptedItem(result, 0).duplicate).toBe(false);
      expect(acceptedItem(result, 1)).toMatchObject({ ...first, duplicate: true });
    });
    test('A key of a batch is remembered by a single consent', async () => {
      const consent = shop.cookieConsent({ idempotency_key: newKey() });
      const item = acceptedItem(batchResult(await shop.batch([consent])), 0);
      const second = accepted(await shop.consent(consent));
      expect(second).toMatchObject({ consent_token: item.consent_token, duplicate: true });
    });
    test('A batch sent again returns its items as duplicates', async () => {
      const consents = [newKey(), newKey(), newKey()].map((idempotency_key) => shop.cookieConsent({ idempotency_key }));
      const [first, second] = [batchResult(await shop.batch(consents)), batchResult(await shop.batch(consents))];
      expect(second.accepted).toBe(3);
      for (const index of consents.keys()) {
        expect(acceptedItem(second, index)).toEqual({ ...acceptedItem(first, index), duplicate: true });
      }
    });
    test('The same key twice in one batch: the second is the duplicate of the first', async () => {
      const consent = shop.cookieConsent({ idempotency_key: newKey() });
      const answer = await shop.batch([consent, shop.cookieConsent(), consent]);
      const result = batchResult(answer);
      expect(acceptedItem(result, 0).duplicate).toBe(false);
      expect(acceptedItem(result, 2)).toEqual({ ...acceptedItem(result, 0), index: 2, duplicate: true });
      expect(answer.headers['idempotency-mismatch']).toBeUndefined();
    });
    test('The same key twice in one batch with other bodies: Idempotency-Mismatch: true', async () => {
      const idempotency_key = newKey();
      const answer = await shop.batch([
        shop.cookieConsent({ idempotency_key }),
        shop.cookieConsent({ idempotency_key, decision: 'withdrawn' }),
      ]);
      const result = batchResult(answer);
      expect(acceptedItem(result, 1).consent_token).toBe(acceptedItem(result, 0).consent_token);
      expect(isMismatch(answer)).toBe(true);
    });
    test('A request that was refused does not take its key', async () => {
      const idempotency_key = newKey();
      expectError(
        await shop.consent(shop.cookieConsent({ idempotency_key, decision: 'perhaps' })),
        422,
        'VALIDATION_ERROR',
      );
      const outdated = shop.cookieConsent({ idempotency_key, document_version_id: undefined });
      expectError(await shop.consent(outdated), 409, 'CONFIG_OUTDATED');
      expect(accepted(await shop.consent(shop.cookieConsent({ idempotency_key }))).duplicate).toBe(false);
    });
    test('The original answer comes back even where the repeat names a retired document version', async () => {
      const idempotency_key = newKey();
      const first = accepted(await shop.consent(shop.cookieConsent({ idempotency_key })));
      const document_version_id = shop.version(shop.cookieDocument, 'en', 'retired');
      const second = await shop.consent(shop.cookieConsent({ idempotency_key, document_version_id }));
      expectRepeated(accepted(second), first);
      expect(isMismatch(second)).toBe(true);
    });
    test('A key is remembered after the record was stored in the background', async () => {
      const fields = { idempotency_key: newKey() };
      const first = accepted(await shop.consent(shop.cookieConsent(fields)));
      const verify = () => shop.get(`/tool/v1/consents/verify/${first.consent_token}`);
      expect((await eventually(verify, ({ status }) => status === 200)).status).toBe(200);
      await sleep(1000);
      expectRepeated(accepted(await shop.consent(shop.cookieConsent(fields))), first);
    });
    test('The approval token of a repeat was consumed by the original: the answer is the original one', async () => {
      const { approval_token } = await shop.minted();
      const approval = shop.approval({ approval_token, idempotency_key: newKey() });
      const first = accepted(await shop.consent(approval));
      expectRepeated(accepted(await shop.consent(approval)), first);
    });
    test('Consents without a key are never duplicates', async () => {
      const consent = shop.cookieConsent();
      for (let i = 0; i < 2; i++) expect(accepted(await shop.consent(consent)).duplicate).toBe(false);
    });
  });
}
