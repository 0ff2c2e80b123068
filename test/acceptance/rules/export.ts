import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { type Acceptance, accepted, at, expectError } from '../support/answers.js';
import { pngOfBytes } from '../support/contents.js';
import type { Answer } from '../support/http.js';
import { newKey, newVisitor, type Shop } from '../support/shop.js';
import { eventually } from '../support/wait.js';
import type { World } from '../support/world.js';

const PATH = '/tool/v1/s2s/consents/export';

const Exported = z.looseObject({ consent_token: z.string() });
const Page = z.object({ data: z.array(Exported), next_cursor: z.string().nullable() });

/** A value that occurs nowhere else. */
const mark = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`;

/** Specification, Endpoints, export. Rules without an example there look for content of the answer in any form. */
export function exportRules(world: World): void {
  describe('Export', () => {
    let shop: Shop;
    let other: Shop;
    beforeAll(async () => {
      shop = await world.shop();
      other = await world.otherShop();
    });

    const exported = (filters: Readonly<Record<string, string>>, by: Shop = shop): Promise<Answer> =>
      by.getS2s(`${PATH}?${new URLSearchParams(filters)}`);
    /** Asks until the record is there. */
    const exportedWith = ({ proof_hash }: Acceptance, filters: Readonly<Record<string, string>>): Promise<Answer> =>
      eventually(
        () => exported(filters),
        ({ text, status }) => status !== 200 || text.includes(proof_hash),
      );

    test('A recorded consent is exported, with its token and proof hash', async () => {
      const visitor_id = newVisitor();
      const record = accepted(await shop.consent(shop.cookieConsent({ visitor_id })));
      const answer = await exportedWith(record, { visitor_id });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.text).toContain(record.proof_hash);
      expect(answer.text).toContain(record.consent_token);
    });
    test('Every field of the record is given back, as it was recorded', async () => {
      const visitor_id = newVisitor();
      const content = shop.cookieConsent({
        decision: 'partial',
        language: 'en',
        categories: { necessary: true, marketing: false },
        idempotency_key: newKey(),
        visitor_id,
        visitor_region: 'TR-34',
        visitor_country: 'TR',
        compliance_framework: 'kvkk',
        source: 'till',
        metadata: { note: 'ğ', list: [1, null, { deep: true }] },
        extra_fields: { 'a name': -1.5, empty: '' },
        presentation: { layout: 'till', layout_version: 3, controls: ['sign', 'refuse'], control: 'sign' },
        presentation_screenshot: pngOfBytes(700),
        iab: { gpp_string: 'DBABLA~CAAUAAAAAABA.YA' },
        signature_image: pngOfBytes(400),
        signature_mime_type: 'image/png',
        signer_name: 'Ayşe Yılmaz',
        signer_email: 'ayse@example.org',
        signer_phone: '+905551234567',
        signer_id_number: '10000000146',
        declaration_text: 'I have read this.\nAnd I agree.',
        drawing_duration_ms: 71_823,
        stroke_count: 9173,
        strokes_data: [[{ x: 1, y: 2.5 }]],
        input_type: 'stylus',
        screen_resolution: '1921x1081',
        custom_document_content: 'The contract, as agreed: ğ.',
        custom_document_mime_type: 'text/plain',
        ip_address: '198.51.100.123',
        user_agent: 'Till/7 (ğ)',
        otp_verified: true,
        otp_reference: 'otp-81723',
      });
      const record = accepted(await shop.s2sConsent(content));
      const answer = await exportedWith(record, { visitor_id });
      expect(answer.status, answer.text).toBe(200);
      expect(at(answer.json, 'data', 0)).toMatchObject({
        ...content,
        consent_token: record.consent_token,
        proof_hash: record.proof_hash,
        created_at: record.created_at,
      });
    });
    test('limit and next_cursor page through the records, each of them once', async () => {
      const visitor_id = newVisitor();
      const tokens: string[] = [];
      let last: Acceptance | null = null;
      for (let i = 0; i < 5; i++) {
        last = accepted(await shop.consent(shop.cookieConsent({ visitor_id })));
        tokens.push(last.consent_token);
      }
      if (last !== null) await exportedWith(last, { visitor_id });
      const seen: string[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < 10; page++) {
        const answer = await exported({ visitor_id, limit: '2', ...(cursor === null ? {} : { cursor }) });
        expect(answer.status, answer.text).toBe(200);
        const { data, next_cursor } = Page.parse(answer.json);
        expect(data.length).toBeLessThanOrEqual(2);
        seen.push(...data.map(({ consent_token }) => consent_token));
        cursor = next_cursor;
        if (cursor === null) break;
      }
      expect(cursor).toBeNull();
      expect([...seen].sort()).toEqual([...tokens].sort());
    });
    test('NDJSON, asked for by Accept, has a record a line', async () => {
      const visitor_id = newVisitor();
      const tokens: string[] = [];
      for (let i = 0; i < 3; i++) {
        const record = accepted(await shop.consent(shop.cookieConsent({ visitor_id })));
        tokens.push(record.consent_token);
        await exportedWith(record, { visitor_id });
      }
      const answer = await shop.getS2s(`${PATH}?visitor_id=${visitor_id}`, {
        headers: { accept: 'application/x-ndjson' },
      });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.headers['content-type']).toMatch(/ndjson/);
      const lines = answer.text.trimEnd().split('\n');
      expect(lines.map((line) => Exported.parse(JSON.parse(line)).consent_token).sort()).toEqual([...tokens].sort());
    });
    test('Of a browser’s consent, IP address and user agent are those of the connection, and OTP fields are not kept', async () => {
      const visitor_id = newVisitor();
      const claimed = {
        ip_address: '198.51.100.200',
        user_agent: mark('Claimed'),
        otp_verified: true,
        otp_reference: mark('otp'),
      };
      const agent = mark('Browser');
      const options = { headers: { 'user-agent': agent, 'x-forwarded-for': '198.51.100.201' } };
      const record = accepted(await shop.consent(shop.cookieConsent({ visitor_id, ...claimed }), options));
      const { status, text } = await exportedWith(record, { visitor_id });
      expect(status, text).toBe(200);
      expect(text).toContain(agent);
      for (const value of [claimed.ip_address, claimed.user_agent, claimed.otp_reference, '198.51.100.201']) {
        expect(text).not.toContain(value);
      }
    });
    test('An approval holds tenant_attested and the approval token’s id, and never the token', async () => {
      const subject = newVisitor();
      const { approval_token, approval_token_id } = await shop.minted({ subject, signer_name: mark('vouched') });
      const record = accepted(await shop.consent(shop.approval({ approval_token })));
      const { status, text } = await exportedWith(record, { visitor_id: subject });
      expect(status, text).toBe(200);
      expect(text).toContain('tenant_attested');
      expect(text).toContain(approval_token_id);
      expect(text).not.toContain(approval_token);
    });
    test('Only categories that the banner defines were stored', async () => {
      const visitor_id = newVisitor();
      const unknown = mark('category');
      const categories = { analytics: true, [unknown]: true };
      const record = accepted(await shop.consent(shop.cookieConsent({ visitor_id, categories })));
      const { status, text } = await exportedWith(record, { visitor_id });
      expect(status, text).toBe(200);
      expect(text).not.toContain(unknown);
    });
    test('The filters visitor_id, consent_type, document_slug, document_version_id, from and to narrow the export', async () => {
      const visitor_id = newVisitor();
      const turkish = shop.version(shop.cookieDocument, 'tr');
      const one = accepted(await shop.consent(shop.cookieConsent({ visitor_id })));
      const two = accepted(
        await shop.consent(
          shop.cookieConsent({ visitor_id, consent_type: 'do_not_sell_opt_out', document_version_id: turkish }),
        ),
      );
      await exportedWith(one, { visitor_id });
      await exportedWith(two, { visitor_id });
      const holds = async (filters: Readonly<Record<string, string>>): Promise<boolean[]> => {
        const { status, text } = await exported({ visitor_id, ...filters });
        expect(status, text).toBe(200);
        return [one, two].map(({ proof_hash }) => text.includes(proof_hash));
      };
      expect(await holds({})).toEqual([true, true]);
      expect(await holds({ consent_type: 'cookie' })).toEqual([true, false]);
      expect(await holds({ document_version_id: turkish })).toEqual([false, true]);
      expect(await holds({ document_slug: shop.cookieDocument.slug })).toEqual([true, true]);
      expect(await holds({ document_slug: shop.approvalDocument.slug })).toEqual([false, false]);
      expect(await holds({ to: '2001-01-01T00:00:00Z' })).toEqual([false, false]);
      expect(await holds({ from: '2001-01-01T00:00:00Z' })).toEqual([true, true]);
      expect(await holds({ visitor_id: newVisitor() })).toEqual([false, false]);
    });
    test('Another tenant’s records are never exported', async () => {
      const visitor_id = newVisitor();
      const record = accepted(await shop.consent(shop.cookieConsent({ visitor_id })));
      await exportedWith(record, { visitor_id });
      const { status, text } = await exported({ visitor_id }, other);
      expect(status, text).toBe(200);
      expect(text).not.toContain(record.proof_hash);
    });
    for (const [name, value] of [
      ['limit', '0'],
      ['limit', 'all'],
      ['from', 'yesterday'],
      ['to', '2026-13-45'],
      ['document_version_id', 'v1'],
      ['cursor', 'nonsense'],
    ] as const) {
      test(`${name}=${value}: 422 VALIDATION_ERROR`, async () => {
        expectError(await exported({ [name]: value }), 422, 'VALIDATION_ERROR');
      });
    }
  });
}
