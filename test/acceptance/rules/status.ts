import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { accepted, at, expectError, expectFieldError } from '../support/answers.js';
import { newVisitor, type Shop } from '../support/shop.js';
import { eventually } from '../support/wait.js';
import type { World } from '../support/world.js';

const Status = z.object({ data: z.object({ consents: z.array(z.looseObject({ consent_token: z.string() })) }) });

/** @param filters further query parameters. @returns consent tokens as status lists them */
export async function statusOf(
  shop: Shop,
  visitor: string,
  filters: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const query = new URLSearchParams({ visitor_id: visitor, ...filters });
  const answer = await shop.get(`/tool/v1/consents/status?${query}`);
  expect(answer.status, answer.text).toBe(200);
  return Status.parse(answer.json).data.consents.map(({ consent_token }) => consent_token);
}

const PERSONAL = {
  ip_address: '198.51.100.77',
  user_agent: 'AcceptanceTill/7',
  signer_name: 'Ayşe Yılmaz',
  signer_email: 'ayse@example.org',
  signer_phone: '+905550000000',
  signer_id_number: '10000000146',
  declaration_text: 'a declaration',
  otp_reference: 'otp-reference-1',
  visitor_region: 'TR-34',
  metadata: { note: 'metadata-value' },
  extra_fields: { note: 'extra-value' },
};

/** Specification, Endpoints, Consent status. */
export function statusRules(world: World): void {
  describe('Status', () => {
    let shop: Shop;
    let other: Shop;
    beforeAll(async () => {
      shop = await world.shop();
      other = await world.otherShop();
    });

    /** Records consents one after the other. @returns their tokens, the newest first, once all of them are stored */
    const record = async (contents: readonly Record<string, unknown>[], visitor: string): Promise<string[]> => {
      const tokens: string[] = [];
      for (const content of contents) {
        tokens.unshift(accepted(await shop.s2sConsent({ ...content, visitor_id: visitor })).consent_token);
      }
      await eventually(
        () => statusOf(shop, visitor),
        (listed) => listed[0] === tokens[0],
      );
      return tokens;
    };

    test('Without visitor_id: 422 VALIDATION_ERROR, naming it in errors', async () => {
      expectFieldError(await shop.get('/tool/v1/consents/status'), 'visitor_id');
    });
    test('A visitor_id of 101 characters: 422 VALIDATION_ERROR', async () => {
      const answer = await shop.get(`/tool/v1/consents/status?visitor_id=${'v'.repeat(101)}`);
      expectError(answer, 422, 'VALIDATION_ERROR');
    });
    test('An unknown visitor has no consents: 200 and an empty list', async () => {
      expect(await statusOf(shop, newVisitor())).toEqual([]);
    });
    test('A consent is listed once it is stored', async () => {
      const visitor = newVisitor();
      const tokens = await record([shop.cookieConsent()], visitor);
      expect(await statusOf(shop, visitor)).toEqual(tokens);
    });
    test('A consent of the browser route is listed as well', async () => {
      const visitor_id = newVisitor();
      const { consent_token } = accepted(await shop.consent(shop.cookieConsent({ visitor_id })));
      const listed = await eventually(
        () => statusOf(shop, visitor_id),
        ({ length }) => length > 0,
      );
      expect(listed).toEqual([consent_token]);
    });
    test('A visitor_id of 100 characters, of any script, is found', async () => {
      const visitor = `${newVisitor()} ğ&=?#+ ${'ç'.repeat(100)}`.slice(0, 100);
      expect(await statusOf(shop, visitor)).toEqual([]);
      expect(await statusOf(shop, visitor)).toEqual([]);
      const tokens = await record([shop.cookieConsent()], visitor);
      expect(await statusOf(shop, visitor)).toEqual(tokens);
    });
    test('Consents come newest first', async () => {
      const visitor = newVisitor();
      const decisions = ['accepted', 'rejected', 'partial', 'withdrawn'];
      const tokens = await record(
        decisions.map((decision) => shop.cookieConsent({ decision })),
        visitor,
      );
      expect(await statusOf(shop, visitor)).toEqual(tokens);
    });
    test('At most 20 consents are listed, the newest ones', async () => {
      const visitor = newVisitor();
      const tokens = await record(
        Array.from({ length: 22 }, () => shop.cookieConsent()),
        visitor,
      );
      expect(await statusOf(shop, visitor)).toEqual(tokens.slice(0, 20));
    });
    test('The filters consent_type, document_slug and document_version_id narrow the list, alone and together', async () => {
      const visitor = newVisitor();
      const { cookieDocument, approvalDocument } = shop;
      const [english, turkish] = ['en', 'tr'].map((language) => shop.version(cookieDocument, language));
      const form = shop.version(approvalDocument);
      const [optOut, inTurkish, inEnglish] = await record(
        [
          shop.cookieConsent({ document_version_id: english }),
          shop.cookieConsent({ document_version_id: turkish }),
          shop.cookieConsent({ consent_type: 'do_not_sell_opt_out', document_version_id: form }),
        ],
        visitor,
      );
      const cookies = [inTurkish, inEnglish];
      expect(await statusOf(shop, visitor, { consent_type: 'cookie' })).toEqual(cookies);
      expect(await statusOf(shop, visitor, { consent_type: 'do_not_sell_opt_out' })).toEqual([optOut]);
      expect(await statusOf(shop, visitor, { document_slug: cookieDocument.slug })).toEqual(cookies);
      expect(await statusOf(shop, visitor, { document_slug: approvalDocument.slug })).toEqual([optOut]);
      expect(await statusOf(shop, visitor, { document_version_id: turkish ?? '' })).toEqual([inTurkish]);
      expect(await statusOf(shop, visitor, { consent_type: 'cookie', document_slug: approvalDocument.slug })).toEqual(
        [],
      );
      expect(await statusOf(shop, visitor, { consent_type: 'cookie', document_version_id: english ?? '' })).toEqual([
        inEnglish,
      ]);
    });
    test('An item has the members of the record', async () => {
      const visitor = newVisitor();
      const content = shop.cookieConsent({ decision: 'partial', categories: { analytics: true } });
      const record = accepted(await shop.consent({ ...content, visitor_id: visitor, compliance_framework: 'kvkk' }));
      const items = await eventually(
        () => shop.get(`/tool/v1/consents/status?visitor_id=${visitor}`),
        ({ json }) => at(json, 'data', 'consents', 0) !== undefined,
      );
      expect(at(items.json, 'data', 'consents', 0)).toMatchObject({
        consent_token: record.consent_token,
        proof_hash: record.proof_hash,
        created_at: record.created_at,
        consent_type: 'cookie',
        decision: 'partial',
        categories: { analytics: true },
        language: 'en',
        document_slug: shop.cookieDocument.slug,
        document_version_id: content.document_version_id,
        compliance_framework: 'kvkk',
      });
    });
    test('The key of another tenant returns no consent of the visitor', async () => {
      const visitor = newVisitor();
      await record([shop.cookieConsent()], visitor);
      expect(await statusOf(other, visitor)).toEqual([]);
    });
    test('Nothing personal is told: the key that reads this sits in browsers', async () => {
      const visitor = newVisitor();
      await record([shop.cookieConsent(PERSONAL)], visitor);
      const { text } = await shop.get(`/tool/v1/consents/status?visitor_id=${visitor}`);
      for (const value of [visitor, ...Object.values(PERSONAL)]) {
        const plain = typeof value === 'string' ? value : Object.values(value).join();
        expect(text).not.toContain(plain);
      }
    });
  });
}
