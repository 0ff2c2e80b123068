import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Acceptance, accepted, at, expectError, Timestamp } from '../support/answers.js';
import type { Answer } from '../support/http.js';
import { newVisitor, type Shop } from '../support/shop.js';
import { eventually } from '../support/wait.js';
import type { World } from '../support/world.js';

const verifyPath = (id: string): string => `/tool/v1/consents/verify/${id}`;

const Integrity = z.object({
  valid: z.boolean(),
  data: z.looseObject({
    consent_type: z.string(),
    decision: z.enum(['accepted', 'rejected', 'partial', 'withdrawn']),
    proof_hash: z.string(),
    hash_version: z.int(),
    hash_valid: z.boolean(),
    merkle_valid: z.boolean().nullable(),
    is_anonymized: z.boolean(),
    is_tsa_stamped: z.boolean(),
    created_at: Timestamp,
  }),
});

/** Asks until the record is stored. */
export function verified(shop: Shop, id: string): Promise<Answer> {
  return eventually(
    () => shop.get(verifyPath(id)),
    ({ status }) => status === 200,
  );
}

const Items = z.object({ data: z.object({ consents: z.array(z.looseObject({ id: z.uuid() })).length(1) }) });

/** UUID of the one consent of a visitor, as status names it, once it is stored. */
export async function uuidOf(shop: Shop, visitor: string): Promise<string> {
  const answer = await eventually(
    () => shop.get(`/tool/v1/consents/status?visitor_id=${visitor}`),
    ({ json }) => at(json, 'data', 'consents', 0) !== undefined,
  );
  return Items.parse(answer.json).data.consents[0]?.id ?? '';
}

/** Specification, Endpoints, Verify one record; Resources, Integrity check result. */
export function verifyRules(world: World): void {
  describe('Verify', () => {
    let shop: Shop;
    let other: Shop;
    let record: Acceptance;
    let uuid: string;
    beforeAll(async () => {
      shop = await world.shop();
      other = await world.otherShop();
      const visitor_id = newVisitor();
      record = accepted(await shop.consent(shop.cookieConsent({ decision: 'partial', visitor_id })));
      uuid = await uuidOf(shop, visitor_id);
    });

    for (const [what, id] of [
      ['consent_token', () => record.consent_token],
      ['proof_hash', () => record.proof_hash],
      ['consent UUID', () => uuid],
    ] as const) {
      test(`A record is found by its ${what}, and is valid`, async () => {
        const answer = await verified(shop, id());
        expect(answer.status, answer.text).toBe(200);
        expect(Integrity.parse(answer.json)).toMatchObject({ valid: true, data: { proof_hash: record.proof_hash } });
      });
    }
    test('The result has every field of the table, as recorded', async () => {
      const { valid, data } = Integrity.parse((await verified(shop, record.consent_token)).json);
      expect(valid).toBe(true);
      expect(data).toMatchObject({ consent_type: 'cookie', decision: 'partial', proof_hash: record.proof_hash });
      expect(data).toMatchObject({ hash_version: 2, hash_valid: true, is_anonymized: false });
      expect(Date.parse(data.created_at)).toBe(Date.parse(record.created_at));
    });
    test('merkle_valid is null until the record is in a batch, and true from then on', async () => {
      const seen: unknown[] = [];
      const ask = async () => {
        const answer = await shop.get(verifyPath(record.consent_token));
        seen.push(at(answer.json, 'data', 'merkle_valid'));
        return seen.at(-1);
      };
      expect(await eventually(ask, (value) => value === true)).toBe(true);
      expect([null, true]).toEqual(expect.arrayContaining([...new Set(seen)]));
    });
    test('is_tsa_stamped becomes true when a token covers the record’s batch; it stays valid', async () => {
      const isStamped = (answer: Answer) => at(answer.json, 'data', 'is_tsa_stamped') === true;
      const answer = await eventually(() => shop.get(verifyPath(record.consent_token)), isStamped);
      expect(isStamped(answer)).toBe(true);
      expect(at(answer.json, 'valid')).toBe(true);
    });

    for (const [what, id] of [
      ['UUID', '00000000-0000-4000-8000-000000000000'],
      ['consent_token', `ct_${'0'.repeat(32)}`],
      ['proof_hash', '0'.repeat(64)],
      ['id of no known form', 'nonsense'],
      ['id with an escaped NUL', 'ct_%00'],
      ['id with escaped UTF-8', '%F0%9F%8D%AA'],
      ['id of 400 characters', 'x'.repeat(400)],
    ] as const) {
      test(`An unknown ${what}: 404 CONSENT_NOT_FOUND with valid false`, async () => {
        const answer = await shop.get(verifyPath(id));
        expectError(answer, 404, 'CONSENT_NOT_FOUND');
        expect(at(answer.json, 'valid')).toBe(false);
      });
    }
    test('A record of another tenant looks like an unknown one: the answers are the same', async () => {
      await verified(shop, record.consent_token);
      const unknown = await other.get(verifyPath('0'.repeat(64)));
      for (const id of [record.consent_token, record.proof_hash, uuid]) {
        const answer = await other.get(verifyPath(id));
        expect({ status: answer.status, json: answer.json }).toEqual({ status: unknown.status, json: unknown.json });
      }
    });
    test('Without a key nothing is said of a record: 401', async () => {
      const options = { headers: { 'x-api-key': undefined } };
      expectError(await shop.get(verifyPath(record.consent_token), options), 401, 'MISSING_API_KEY');
    });
    test('Every decision is given back as recorded', async () => {
      for (const decision of ['accepted', 'rejected', 'partial', 'withdrawn']) {
        const { consent_token } = accepted(await shop.consent(shop.cookieConsent({ decision })));
        expect(at((await verified(shop, consent_token)).json, 'data', 'decision')).toBe(decision);
      }
    });
    test('Records of the S2S route and of batches verify as well', async () => {
      const { consent_token } = accepted(await shop.s2sConsent(shop.cookieConsent()));
      expect(at((await verified(shop, consent_token)).json, 'valid')).toBe(true);
    });
  });
}
