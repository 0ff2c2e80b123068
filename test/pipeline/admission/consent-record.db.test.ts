import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConsentResponse } from '../../../schemas/api/consents.js';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { ConsentRecord, ConsentRecordedBody, eventIdOfConsentToken } from '../../../schemas/events/consent-recorded.js';
import { disclosuresOf } from '../../../schemas/events/kept-disclosures.js';
import { decodeDisclosure } from '../../../schemas/evidence/disclosure.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import { MAX_APPEND_BYTES } from '../../../src/pipeline/event-log/port.js';
import { blindIndex, decryptForRecord, recordKey } from '../../../src/platform/keys/index.js';
import { pngOfBytes } from '../../acceptance/support/contents.js';
import { digestsByName } from '../../support/disclosure-digests.js';
import { type ApiProcess, post, startApiProcess } from './api-process.js';
import { type AdmissionDatabase, openAdmissionDatabase } from './database.js';
import { createSiteFixture, type SiteFixture } from './site-fixture.js';

const PNG = Buffer.from(pngOfBytes(200), 'base64');
const PDF = Buffer.from('%PDF-1.7 a contract');

describe('the record of a consent', () => {
  let database: AdmissionDatabase;
  let api: ApiProcess;
  let site: SiteFixture;

  beforeAll(async () => {
    database = await openAdmissionDatabase();
    api = await startApiProcess(database.db, database.worker, database.master);
    site = await createSiteFixture(database.owner);
  });
  afterAll(async () => {
    await api?.close();
    await database?.close();
  });

  async function record(body: Record<string, unknown>, headers: Record<string, string> = {}) {
    const answer = await post(api, site.writeKey, '/tool/v1/consents', body, { headers });
    expect(answer).toMatchObject({ status: 202 });
    return ConsentResponse.parse(answer.body).data;
  }

  /** Reads the record of a consent token from its bytes, as the later stages do. */
  async function readBack(consentToken: string) {
    const eventId = eventIdOfConsentToken(consentToken);
    const { rows } = await database.owner.query(
      `select o.stream, o.type, o.data as body, k.seed, k.visitor_index, k.email_index, k.phone_index, k.id_number_index
         from event_log.stored_events o join record_keys k on k.event_id = o.id where o.id = $1`,
      [eventId],
    );
    const bytes = z.instanceof(Buffer);
    const [row] = z
      .tuple([
        z.object({
          stream: z.string(),
          type: z.string(),
          body: bytes,
          seed: bytes,
          visitor_index: bytes.nullable(),
          email_index: bytes.nullable(),
          phone_index: bytes.nullable(),
          id_number_index: bytes.nullable(),
        }),
      ])
      .parse(rows);
    const body = ConsentRecordedBody.parse(JSON.parse(row.body.toString('utf8')));
    const id = eventId ?? '';
    const key = recordKey(await api.keyring.siteKey(site.siteId), row.seed, id);
    const encoded =
      body.disclosures === null
        ? []
        : (disclosuresOf(
            decryptForRecord(key, id, 'disclosures', Buffer.from(body.disclosures, 'base64')).toString(),
            ConsentRecord.parse(JSON.parse(body.record)).disclosures,
          )?.map(({ text }) => text) ?? []);
    const fields = Object.fromEntries(
      encoded.map((text) => {
        const disclosure = decodeDisclosure(text);
        if (disclosure === null) throw new Error('a disclosure cannot be read');
        return [disclosure.name, disclosure.value];
      }),
    );
    return { row, body, record: ConsentRecord.parse(JSON.parse(body.record)), encoded, fields, key, id };
  }

  it('contains the closed list of members in canonical form, and all other fields as disclosures', async () => {
    const metadata = { screen: 'home', nested: { '😀': [1, 2.5, null] }, 'say "hi"\\': '\u2028' };
    const answer = await record(
      {
        consent_type: 'cookie',
        decision: 'partial',
        document_version_id: site.versions.cookieTr.toUpperCase(),
        language: 'tr',
        categories: { marketing: false, analytics: true, unknown_one: true },
        visitor_id: 'visitor-1',
        visitor_region: 'TR-34',
        visitor_country: 'TR',
        compliance_framework: 'kvkk',
        source: 'server',
        metadata,
        extra_fields: { a: 1 },
        signer_email: ' Ada@Example.COM ',
        signer_phone: null,
        idempotency_key: 'a-key-0001',
        ip_address: '192.0.2.1',
        user_agent: 'forged',
        otp_verified: true,
        otp_reference: { not: 'even a string' },
        not_a_field: 'x',
      },
      { 'user-agent': 'Browser/1.0' },
    );
    const { row, body, record: made, encoded, fields } = await readBack(answer.consent_token);

    expect(body.record).toBe(canonicalJson(made));
    const proofKey = await api.keyring.proofKeyById(made.proof_key_id);
    expect(body.proof_hash).toBe(createHmac('sha256', proofKey.key).update(body.record).digest('hex'));
    expect(answer).toMatchObject({ proof_hash: body.proof_hash, created_at: made.created_at, duplicate: false });
    const context = await api.directory.site(site.siteId);
    expect(made).toMatchObject({
      v: 2,
      services: null,
      hash_version: 2,
      site_id: site.siteId,
      consent_type: 'cookie',
      decision: 'partial',
      categories: { analytics: true, marketing: false },
      language: 'tr',
      document_version_id: site.versions.cookieTr,
      document_hash: context.activeVersions.get(site.versions.cookieTr)?.contentSha256,
      site_config_hash: context.config?.sha256,
      compliance_framework: 'kvkk',
      channel: 'browser',
      identity_assurance: null,
    });
    expect(Date.parse(made.valid_until ?? '') - Date.parse(made.created_at)).toBe(365 * 86_400_000);
    expect(fields).toEqual({
      visitor_id: 'visitor-1',
      visitor_region: 'TR-34',
      visitor_country: 'TR',
      source: 'server',
      metadata,
      extra_fields: { a: 1 },
      signer_email: ' Ada@Example.COM ',
      idempotency_key: 'a-key-0001',
      ip_address: '127.0.0.1',
      user_agent: 'Browser/1.0',
    });
    expect(made.disclosures).toEqual(digestsByName(encoded));
    expect(row).toMatchObject({ stream: `consents-${site.siteId}`, type: 'ConsentRecorded.v1' });
    const siteKey = await api.keyring.siteKey(site.siteId);
    expect(row.visitor_index).toEqual(blindIndex(siteKey, 'visitor', 'visitor-1'));
    expect(row.email_index).toEqual(blindIndex(siteKey, 'email', 'ada@example.com'));
    expect(row.phone_index).toBeNull();
    expect(row.body.toString('utf8')).not.toContain('visitor-1');
  });

  it('stores large values encrypted, separately from the event', async () => {
    const answer = await record({
      consent_type: 'document_approval',
      decision: 'accepted',
      document_version_id: site.versions.terms,
      signature_image: `data:image/png;base64,${PNG.toString('base64')}`,
      signature_mime_type: 'image/png',
      custom_document_content: PDF.toString('base64'),
      custom_document_mime_type: 'application/pdf',
      strokes_data: [[1, 2, 3]],
      stroke_count: 1,
      drawing_duration_ms: 10.5,
    });
    const { body, fields, key, id } = await readBack(answer.consent_token);
    expect(fields).toMatchObject({
      signature_image: { sha256: sha256Of(PNG), media_type: 'image/png', size: PNG.length },
      custom_document_content: { sha256: sha256Of(PDF), media_type: 'application/pdf', size: PDF.length },
      strokes_data: [[1, 2, 3]],
      drawing_duration_ms: 10.5,
    });
    const { rows } = await database.owner.query('select id, ciphertext from attachments where event_id = $1', [id]);
    const byId = new Map(
      z
        .array(z.object({ id: z.string(), ciphertext: z.instanceof(Buffer) }))
        .parse(rows)
        .map((r) => [r.id, r.ciphertext]),
    );
    const contents = body.attachments.map((attachment) =>
      decryptForRecord(key, id, `attachment:${attachment}`, byId.get(attachment) ?? Buffer.alloc(0)),
    );
    expect(contents).toEqual([PNG, PDF]);
  });

  it('fits into an append for the largest consent', async () => {
    // Characters that JSON escapes, or that take several bytes in UTF-8, give the largest event.
    const answer = await record({
      consent_type: 'x'.repeat(50),
      decision: 'accepted',
      document_version_id: site.versions.terms,
      visitor_id: '€'.repeat(100),
      metadata: { a: '"'.repeat(8100) },
      extra_fields: { a: '\u0001'.repeat(2700) },
      strokes_data: 'x'.repeat(65_500),
      declaration_text: '\u0001'.repeat(10_000),
      signer_name: '\u0001'.repeat(200),
      signature_image: pngOfBytes(262_144),
      custom_document_content: 'é'.repeat(524_288),
      custom_document_mime_type: 'text/plain; charset=utf-8',
    });
    const { row } = await readBack(answer.consent_token);
    expect(row.body.length).toBeLessThan(MAX_APPEND_BYTES / 2);
  });

  it('counts null as absent', async () => {
    const answer = await record({
      consent_type: 'cookie',
      decision: 'rejected',
      document_version_id: site.versions.cookieEn,
      categories: null,
      metadata: null,
      visitor_id: null,
    });
    const { record: made, fields } = await readBack(answer.consent_token);
    expect(made.categories).toBeNull();
    expect(Object.keys(fields).sort()).toEqual(['ip_address', 'user_agent']);
  });
});

function sha256Of(bytes: Uint8Array): string {
  return toHex(sha256(bytes));
}
