import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CONSENT_LIMITS } from '../../../schemas/api/consent-limits.js';
import { ConsentBatchResponse } from '../../../schemas/api/consents.js';
import { pngOfBytes } from '../../acceptance/support/contents.js';
import { type ApiProcess, newKey, post, startApiProcess } from './api-process.js';
import { type AdmissionDatabase, openAdmissionDatabase } from './database.js';
import { createSiteFixture, type SiteFixture } from './site-fixture.js';

const SINGLE = '/tool/v1/consents';
const BATCH = '/tool/v1/consents/batch';
const PNG = Buffer.from(pngOfBytes(200), 'base64');
/** The same picture, which states another width. */
const pngOfWidth = (pixels: number): Buffer => {
  const picture = Buffer.from(PNG);
  picture.writeUInt32BE(pixels, 16);
  return picture;
};
const base64 = (content: Uint8Array | string): string => Buffer.from(content).toString('base64');
const keysOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]));

describe('refusals of admission', () => {
  let database: AdmissionDatabase;
  let api: ApiProcess;
  let site: SiteFixture;
  let cookie: Record<string, unknown>;
  let approval: Record<string, unknown>;

  beforeAll(async () => {
    database = await openAdmissionDatabase();
    api = await startApiProcess(database.db, database.worker, database.master);
    site = await createSiteFixture(database.owner, { quota: 1000 });
    cookie = { consent_type: 'cookie', decision: 'accepted', document_version_id: site.versions.cookieEn };
    approval = { consent_type: 'document_approval', decision: 'accepted', document_version_id: site.versions.form };
  });
  afterAll(async () => {
    await api?.close();
    await database?.close();
  });

  const send = (body: unknown) => post(api, site.writeKey, SINGLE, body);
  const recorded = async (): Promise<number> =>
    (await database.owner.query('select from event_log.stored_events where stream = $1', [`consents-${site.siteId}`]))
      .rowCount ?? 0;

  it.each<[string, number, string, () => unknown]>([
    ['a body that is not JSON', 400, 'MALFORMED_JSON', () => '{"consent_type":'],
    ['a duplicate key', 400, 'MALFORMED_JSON', () => '{"decision":"accepted","decision":"rejected"}'],
    ['U+0000', 400, 'MALFORMED_JSON', () => '{"visitor_id":"\\u0000"}'],
    ['a lone surrogate', 400, 'MALFORMED_JSON', () => '{"visitor_id":"\\ud800"}'],
    ['deep nesting', 400, 'MALFORMED_JSON', () => `{"metadata":${'['.repeat(40)}${']'.repeat(40)}}`],
    ['bytes that are not UTF-8', 400, 'MALFORMED_JSON', () => Buffer.from([0x22, 0xff, 0x22])],
    ['1e400', 422, 'VALIDATION_ERROR', () => '{"metadata":{"n":1e400}}'],
    ['an array', 422, 'VALIDATION_ERROR', () => []],
    ['a missing decision', 422, 'VALIDATION_ERROR', () => ({ ...cookie, decision: undefined })],
    ['a long consent_type', 422, 'VALIDATION_ERROR', () => ({ ...cookie, consent_type: 'x'.repeat(51) })],
    ['a version id that is not a UUID', 422, 'VALIDATION_ERROR', () => ({ ...cookie, document_version_id: 'v1' })],
    ['a short idempotency key', 422, 'VALIDATION_ERROR', () => ({ ...cookie, idempotency_key: 'short' })],
    ['non-boolean categories', 422, 'INVALID_CATEGORIES', () => ({ ...cookie, categories: { a: 'yes' } })],
    [
      'a required category that is refused',
      422,
      'INVALID_CATEGORIES',
      () => ({ ...cookie, decision: 'partial', categories: { necessary: false } }),
    ],
    [
      'a rejection that grants a category',
      422,
      'INVALID_CATEGORIES',
      () => ({ ...cookie, decision: 'rejected', categories: { necessary: true, analytics: true } }),
    ],
    ['31 keys of metadata', 422, 'METADATA_TOO_MANY_KEYS', () => ({ ...cookie, metadata: keysOf(31) })],
    ['large metadata', 422, 'METADATA_TOO_LARGE', () => ({ ...cookie, metadata: { a: 'é'.repeat(8200) } })],
    ['31 extra fields', 422, 'EXTRA_FIELDS_TOO_MANY_KEYS', () => ({ ...cookie, extra_fields: keysOf(31) })],
    [
      'large extra fields',
      422,
      'EXTRA_FIELDS_TOO_LARGE',
      () => ({ ...cookie, extra_fields: { a: 'x'.repeat(16_400) } }),
    ],
    [
      'a long extra name',
      422,
      'EXTRA_FIELD_NAME_TOO_LONG',
      () => ({ ...cookie, extra_fields: { ['n'.repeat(101)]: 1 } }),
    ],
    ['many strokes', 422, 'STROKES_DATA_TOO_LARGE', () => ({ ...cookie, strokes_data: 'x'.repeat(65_536) })],
    ['an invalid image', 422, 'INVALID_SIGNATURE_IMAGE', () => ({ ...cookie, signature_image: base64('hello') })],
    ['invalid base64', 422, 'INVALID_SIGNATURE_IMAGE', () => ({ ...cookie, signature_image: '%%%' })],
    [
      'an image of another type',
      422,
      'INVALID_SIGNATURE_IMAGE',
      () => ({ ...cookie, signature_image: base64(PNG), signature_mime_type: 'image/jpeg' }),
    ],
    ...Object.entries({
      'a picture that was cut off': PNG.subarray(0, -1),
      'a picture with something behind its end': Buffer.concat([PNG, Buffer.from('x')]),
      'a picture without a column': pngOfWidth(0),
      'a picture of 2^31 columns': pngOfWidth(2 ** 31),
      'the first bytes of a picture': PNG.subarray(0, 8),
    }).map(([name, bytes]): [string, number, string, () => unknown] => [
      name,
      422,
      'INVALID_SIGNATURE_IMAGE',
      () => ({ ...cookie, signature_image: base64(bytes) }),
    ]),
    [
      'an SVG',
      422,
      'INVALID_SIGNATURE_IMAGE',
      () => ({ ...cookie, signature_image: base64('<svg/>'), signature_mime_type: 'image/svg+xml' }),
    ],
    [
      'a large image',
      422,
      'SIGNATURE_IMAGE_TOO_LARGE',
      () => ({
        ...cookie,
        signature_image: base64(Buffer.concat([PNG, Buffer.alloc(CONSENT_LIMITS.signatureImageBytes)])),
      }),
    ],
    [
      'a program as document',
      422,
      'UNSUPPORTED_CUSTOM_DOCUMENT_TYPE',
      () => ({ ...cookie, custom_document_content: 'x', custom_document_mime_type: 'application/x-sh' }),
    ],
    [
      'an invalid PDF',
      422,
      'INVALID_CUSTOM_DOCUMENT',
      () => ({ ...cookie, custom_document_content: base64('x'), custom_document_mime_type: 'application/pdf' }),
    ],
    [
      'a large document',
      422,
      'CUSTOM_DOCUMENT_TOO_LARGE',
      () => ({
        ...cookie,
        custom_document_content: 'x'.repeat(CONSENT_LIMITS.customDocumentBytes + 1),
        custom_document_mime_type: 'text/plain',
      }),
    ],
    ['no version', 409, 'CONFIG_OUTDATED', () => ({ ...cookie, document_version_id: undefined })],
    ['an unknown version', 409, 'CONFIG_OUTDATED', () => ({ ...cookie, document_version_id: randomUUID() })],
    ['another language', 409, 'CONFIG_OUTDATED', () => ({ ...cookie, language: 'tr' })],
    [
      'a cookie consent to the terms',
      409,
      'CONFIG_OUTDATED',
      () => ({ ...cookie, document_version_id: site.versions.terms }),
    ],
    ['no approval token', 422, 'APPROVAL_TOKEN_REQUIRED', () => approval],
    [
      'another consent_type to bypass the token',
      422,
      'APPROVAL_TOKEN_REQUIRED',
      () => ({ ...approval, consent_type: 'Document_approval' }),
    ],
    ['an unknown approval token', 422, 'APPROVAL_TOKEN_INVALID', () => ({ ...approval, approval_token: 'hat_x' })],
    ['a token for a cookie', 422, 'APPROVAL_TOKEN_INVALID', () => ({ ...cookie, approval_token: 'hat_x' })],
    [
      'an unknown token for a type of one’s own',
      422,
      'APPROVAL_TOKEN_INVALID',
      () => ({ ...approval, consent_type: 'house_rules', approval_token: 'hat_x' }),
    ],
  ])('%s: %i %s', async (_name, status, code, body) => {
    const before = await recorded();
    const answer = await send(body());
    expect(answer).toMatchObject({ status, body: { code, error_code: code, error: { code } } });
    expect(await recorded()).toBe(before);
  });

  it('records a rejection that keeps the required category, and ignores categories that are not defined', async () => {
    const categories = { necessary: true, analytics: false, unheard_of: true };
    expect(await send({ ...cookie, decision: 'rejected', categories })).toMatchObject({ status: 202 });
  });

  it('refuses no withdrawal for its categories', async () => {
    const categories = { necessary: false, analytics: true };
    expect(await send({ ...cookie, decision: 'withdrawn', categories })).toMatchObject({ status: 202 });
  });

  it('names the item and the member of a number that cannot be kept, and of contradictory categories', async () => {
    const item = JSON.stringify(cookie).slice(0, -1);
    const large = `{"consents":[${item}},${item},"metadata":{"a":["\\\\",{"n":9007199254740993}]}}]}`;
    expect(await post(api, site.writeKey, BATCH, large)).toMatchObject({
      status: 422,
      body: { code: 'VALIDATION_ERROR', errors: [{ field: 'consents.1.metadata.a.1.n' }] },
    });
    const contradiction = { ...cookie, decision: 'rejected', categories: { analytics: true } };
    expect(await post(api, site.writeKey, BATCH, { consents: [cookie, contradiction] })).toMatchObject({
      status: 422,
      body: { code: 'INVALID_CATEGORIES', errors: [{ field: 'consents.1.categories.analytics' }] },
    });
  });

  it('names what it ignored, and what was probably meant', async () => {
    const misspelled = {
      visitorid: 'v',
      Language: 'en',
      'signer-name': 'x',
      metdata: {},
      widget: 1,
      dcoument_version_id: 1,
    };
    const { body } = await send({ ...cookie, ...misspelled });
    const Warned = z.object({
      data: z.object({ warnings: z.array(z.object({ field: z.string(), message: z.string() })) }),
    });
    expect(Warned.parse(body).data.warnings.map(({ field }) => field)).toEqual([
      'visitorid',
      'Language',
      'signer-name',
      'metdata',
      'widget',
      'dcoument_version_id',
    ]);
    expect(Warned.parse(body).data.warnings[0]?.message).toContain('visitor_id');
    expect((await send(cookie)).body).not.toHaveProperty('data.warnings');
    const batch = await post(api, site.writeKey, BATCH, { consents: [cookie, { ...cookie, catgories: {} }] });
    const [first, second] = ConsentBatchResponse.parse(batch.body).data.results;
    expect(first).not.toHaveProperty('warnings');
    expect(second).toMatchObject({ status: 'accepted', warnings: [{ field: 'catgories' }] });
  });

  it('names categories and a type of consent that the site does not know', async () => {
    const { body } = await send({
      ...cookie,
      consent_type: 'cooky',
      categories: { necessary: true, analitics: true },
    });
    expect(body).toMatchObject({
      data: {
        warnings: [
          { field: 'categories.analitics', message: expect.stringContaining('did you mean analytics?') },
          { field: 'consent_type', message: expect.stringContaining('is none of cookie, ') },
        ],
      },
    });
  });

  it('says that a key was used with another consent, and takes no order of members for one', async () => {
    const key = { idempotency_key: randomUUID() };
    const first = await send({ ...cookie, ...key });
    const again = await send({ ...key, ...cookie });
    expect(again.body).toMatchObject({ data: { duplicate: true } });
    expect(again.body).not.toHaveProperty('data.warnings');
    expect(again.headers).not.toHaveProperty('idempotency-mismatch');
    const other = await send({ ...cookie, ...key, decision: 'withdrawn' });
    expect(other).toMatchObject({
      status: 202,
      body: { data: { duplicate: true, warnings: [{ field: 'idempotency_key' }] } },
    });
    expect(other.headers).toHaveProperty('idempotency-mismatch', 'true');
    const Token = z.object({ data: z.object({ consent_token: z.string() }) });
    expect(Token.parse(other.body)).toEqual(Token.parse(first.body));
  });

  it('names the invalid fields', async () => {
    const answer = await post(api, site.writeKey, BATCH, { consents: [cookie, { ...cookie, decision: 'maybe' }] });
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ field: 'consents.1.decision' }] } });
  });

  it('consumes the nonce of a refused request only if its signature is valid', async () => {
    for (const body of ['{', { ...cookie, decision: 'maybe' }, { ...cookie, language: 'tr' }]) {
      const nonce = randomUUID();
      expect((await post(api, site.writeKey, SINGLE, body, { nonce })).status).not.toBe(202);
      const replay = await post(api, site.writeKey, SINGLE, cookie, { nonce });
      expect(replay).toMatchObject({ status: 401, body: { code: 'NONCE_REPLAYED' } });
      expect(await post(api, site.writeKey, SINGLE, body, { nonce })).toMatchObject({
        body: { code: 'NONCE_REPLAYED' },
      });
    }
    const nonce = randomUUID();
    const forged = await post(api, site.writeKey, SINGLE, cookie, {
      nonce,
      headers: { 'x-signature': 'a'.repeat(64) },
    });
    expect(forged).toMatchObject({ status: 401, body: { code: 'INVALID_SIGNATURE' } });
    expect((await post(api, site.writeKey, SINGLE, cookie, { nonce })).status).toBe(202);
  });

  it('checks headers, time, nonce and signature in this order', async () => {
    const bad = { 'x-signature': 'bad' };
    const code = async (headers: Record<string, string>, options = {}) =>
      (await post(api, site.writeKey, SINGLE, cookie, { headers: { ...bad, ...headers }, ...options })).body;
    expect(await code({}, { ahead: 400, nonce: 'short' })).toMatchObject({ code: 'TIMESTAMP_EXPIRED' });
    expect(await code({ 'x-timestamp': 'now' })).toMatchObject({ code: 'TIMESTAMP_EXPIRED' });
    expect(await code({ 'x-timestamp': String(Date.now()) })).toMatchObject({
      code: 'TIMESTAMP_EXPIRED',
      message: expect.stringContaining('milliseconds'),
    });
    expect(await code({}, { ahead: -400 })).toMatchObject({ code: 'TIMESTAMP_EXPIRED' });
    expect(await code({}, { nonce: 'short' })).toMatchObject({ code: 'INVALID_NONCE' });
    expect(await code({})).toMatchObject({ code: 'INVALID_SIGNATURE' });
    expect(await code({ 'x-api-key': site.readKey })).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
    const unsigned = await api.app.inject({
      method: 'POST',
      url: SINGLE,
      payload: cookie,
      headers: { 'x-api-key': site.writeKey },
    });
    expect(unsigned.json()).toMatchObject({ code: 'MISSING_SIGNATURE_HEADERS' });
  });

  it('refuses a submission batch as a whole for its shape or a version, and consumes nothing', async () => {
    const before = await recorded();
    const key = newKey();
    const good = { ...cookie, idempotency_key: key };
    const wrong = await post(api, site.writeKey, BATCH, { consents: [good, { ...cookie, language: 'tr' }] });
    expect(wrong).toMatchObject({
      status: 409,
      body: { code: 'CONFIG_OUTDATED', message: expect.stringContaining('consents.1') },
    });
    expect((await post(api, site.writeKey, BATCH, { consents: [] })).status).toBe(422);
    expect(
      (await post(api, site.writeKey, BATCH, { consents: Array.from({ length: 101 }, () => cookie) })).status,
    ).toBe(422);
    expect(await recorded()).toBe(before);
    const { rows } = await database.owner.query(
      'select coalesce(sum(used), 0)::int as used from consent_usage where tenant_id = $1',
      [site.tenantId],
    );
    expect(rows[0].used).toBe(before);
    const right = await post(api, site.writeKey, BATCH, { consents: [good] });
    expect(ConsentBatchResponse.parse(right.body).data.results).toMatchObject([
      { status: 'accepted', duplicate: false },
    ]);
  });

  it('treats the second use of a key in one submission batch as a duplicate', async () => {
    const key = newKey();
    const consents = [
      { ...cookie, idempotency_key: key },
      cookie,
      { ...cookie, idempotency_key: key },
      { ...cookie, visitor_id: 'x', idempotency_key: key },
    ];
    const answer = await post(api, site.writeKey, BATCH, { consents });
    const { results, accepted } = ConsentBatchResponse.parse(answer.body).data;
    expect(accepted).toBe(4);
    expect(results.map((r) => r.status === 'accepted' && r.duplicate)).toEqual([false, false, true, true]);
    expect(answer.headers['idempotency-mismatch']).toBe('true');
    const [first, , second] = results;
    expect(
      first?.status === 'accepted' && second?.status === 'accepted' && first.consent_token === second.consent_token,
    ).toBe(true);
  });

  it('refuses only the item with an invalid approval token', async () => {
    const answer = await post(api, site.writeKey, BATCH, { consents: [cookie, approval, cookie] });
    expect(ConsentBatchResponse.parse(answer.body).data).toMatchObject({
      accepted: 2,
      rejected: 1,
      results: [
        { status: 'accepted' },
        { index: 1, error_code: 'APPROVAL_TOKEN_REQUIRED', code: 422 },
        { status: 'accepted' },
      ],
    });
  });

  it('records nothing for a site without a published configuration', async () => {
    const bare = await createSiteFixture(database.owner, { hasConfig: false });
    const body = { ...cookie, document_version_id: bare.versions.cookieEn };
    expect(await post(api, bare.writeKey, SINGLE, body)).toMatchObject({
      status: 409,
      body: { code: 'CONFIG_OUTDATED' },
    });
  });
});
