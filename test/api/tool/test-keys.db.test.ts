import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import type { Operation } from '../../../src/api/server/operation.js';
import { TOOL_OPERATIONS } from '../../../src/api/tool/operations.js';
import { maintainAdmission } from '../../../src/pipeline/admission/maintenance.js';
import { type CreatedApiKey, createApiKey, rotateApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { type Answer, ask, type RunningApp, startApp } from '../server/running-app.js';
import { Backend } from './export-fixture.js';
import { personTokenRules } from './person-token-rules.js';

const Recorded = z.object({
  data: z.object({ consent_token: z.string(), proof_hash: z.string(), created_at: z.string(), promise: z.null() }),
  test: z.literal(true),
});
type Mode = 'live' | 'test';

/** The id in a token. */
const idOf = (token: string): string => token.slice(-32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

describe('test keys', () => {
  let app: RunningApp;
  let backend: Backend;
  let keys: Record<Mode, string>;
  let created: CreatedApiKey;
  beforeAll(async () => {
    app = await startApp('serve');
    backend = await Backend.of(app);
    created = await createApiKey(app.service.installation.adminPool, backend.demo.site.id, 'write', {
      mode: 'test',
      restriction: 'secret',
    });
    keys = { live: backend.demo.keys.write, test: created.key };
  });
  afterAll(() => app.stop());

  const call = (
    mode: Mode,
    method: string,
    path: string,
    content?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const body = content === undefined ? undefined : JSON.stringify(content);
    const key = keys[mode];
    const signed = body === undefined ? { 'x-api-key': key } : signedHeaders(key, path, body);
    return ask(app.url + path, {
      method: method.toUpperCase(),
      headers: { ...signed, ...backend.bearer, ...headers },
      ...(body !== undefined && { body }),
    });
  };
  const consent = (fields: object = {}): object => ({
    consent_type: 'cookie',
    decision: 'accepted',
    document_version_id: backend.version('cookie_policy'),
    ...fields,
  });
  const recordTest = async (fields: object = {}, path = '/tool/v1/consents') => {
    const answer = await call('test', 'post', path, consent(fields));
    expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    return Recorded.parse(answer.body).data;
  };
  const rows = async (sql: string, values: readonly unknown[] = []): Promise<readonly unknown[]> =>
    (await app.superuser.query(sql, [...values])).rows;

  describe('every operation of the Tool API, with objects of the key’s own kind and of the other', () => {
    const visitor = 'matrix-visitor';
    const tokens: Record<Mode, string> = { live: '', test: '' };
    const erasures: Record<Mode, string> = { live: '', test: '' };
    beforeAll(async () => {
      tokens.live = (await backend.record({ visitor_id: visitor })).consent_token;
      tokens.test = (await recordTest({ visitor_id: visitor })).consent_token;
      for (const mode of ['live', 'test'] as const) {
        const subject = { by: 'visitor_id', value: 'nobody' };
        const { body } = await call(mode, 'post', '/tool/v1/s2s/erasures', { subject, idempotency_key: randomUUID() });
        erasures[mode] = z.object({ data: z.object({ id: z.string() }) }).parse(body).data.id;
      }
      await vi.waitFor(async () => {
        expect(await call('live', 'get', `/tool/v1/consents/verify/${tokens.live}`)).toMatchObject({ status: 200 });
      }, 20_000);
    });

    interface Row {
      /** Whose object the request names; absent: none. */
      readonly of?: Mode;
      readonly live: object;
      readonly test: object;
      readonly path?: () => string;
      readonly body?: () => object;
    }
    const REFUSED = { status: 403, body: { code: 'TEST_KEY_REFUSED' } };
    const ok = (status = 200, body: object = {}) => ({ status, body });
    const own = (status = 200, body: object = {}) => ({ status, body: { ...body, test: true } });
    const gone = (code: string) => ({ status: 404, body: { code } });
    /** One object of each kind: the own one is there, and the other one is not. */
    const eachFinds = (code: string, path: (of: Mode) => string, live: object, test: object): readonly Row[] => [
      { of: 'live', path: () => path('live'), live, test: gone(code) },
      { of: 'test', path: () => path('test'), live: gone(code), test },
    ];
    const matrix: Readonly<Record<string, readonly Row[]>> = {
      ping: [{ live: ok(), test: own() }],
      getConfig: [{ live: ok(), test: own() }],
      getActiveDocuments: [{ live: ok(), test: own() }],
      getActiveDocument: [{ path: () => '/tool/v1/documents/cookie-policy/active', live: ok(), test: own() }],
      getConsentStatus: [
        {
          path: () => `/tool/v1/consents/status?visitor_id=${visitor}`,
          live: expect.objectContaining({
            body: {
              data: { consents: [expect.objectContaining({ consent_token: expect.not.stringMatching(/test/) })] },
            },
          }),
          test: expect.objectContaining({
            body: {
              data: { consents: [expect.objectContaining({ consent_token: expect.stringMatching(/^ct_test_/) })] },
              test: true,
            },
          }),
        },
      ],
      verifyConsent: [
        ...eachFinds(
          'CONSENT_NOT_FOUND',
          (of) => `/tool/v1/consents/verify/${tokens[of]}`,
          ok(200, { valid: true }),
          own(200, { valid: false, reason: 'test', data: { hash_valid: true, merkle_valid: null } }),
        ),
        ...eachFinds(
          'CONSENT_NOT_FOUND',
          (of) => `/tool/v1/consents/verify/${idOf(tokens[of])}`,
          ok(200, { valid: true }),
          own(200, { valid: false, reason: 'test' }),
        ),
      ],
      scanPage: [
        {
          body: () => ({ url: 'https://shop.example/' }),
          live: expect.not.objectContaining({ status: 403 }),
          test: REFUSED,
        },
      ],
      recordConsent: [{ body: () => consent(), live: ok(202), test: own(202) }],
      recordConsentBatch: [{ body: () => ({ consents: [consent()] }), live: ok(202), test: own(202) }],
      recordConsentS2s: [{ body: () => consent(), live: ok(202), test: own(202) }],
      recordConsentBatchS2s: [{ body: () => ({ consents: [consent()] }), live: ok(202), test: own(202) }],
      mintApprovalToken: [
        {
          body: () => ({ document_version_id: backend.version('consent_form'), subject: visitor }),
          live: ok(201, { data: { approval_token: expect.stringMatching(/^hat_(?!test_)/) } }),
          test: own(201, { data: { approval_token: expect.stringMatching(/^hat_test_/) } }),
        },
      ],
      mintPersonToken: [
        {
          body: () => ({ person: visitor }),
          live: { status: 409, body: { code: 'ACCOUNTS_OFF' } },
          test: { status: 409, body: { code: 'ACCOUNTS_OFF' } },
        },
      ],
      exportConsents: [
        {
          path: () => `/tool/v1/s2s/consents/export?visitor_id=${visitor}`,
          live: ok(200, { data: [{ visitor_id: visitor, consent_token: expect.not.stringMatching(/test/) }] }),
          test: own(200, { data: [{ visitor_id: visitor, consent_token: expect.stringMatching(/^ct_test_/) }] }),
        },
      ],
      getReceiptS2s: eachFinds(
        'CONSENT_NOT_FOUND',
        (of) => `/tool/v1/s2s/consents/${tokens[of]}/receipt`,
        expect.objectContaining({ status: expect.not.stringMatching('404') }),
        { status: 409, body: { code: 'RECEIPT_NOT_READY', message: expect.stringMatching(/test record/) } },
      ),
      exportEvidenceS2s: [
        { body: () => ({ filter: {} }), live: expect.not.objectContaining({ status: 403 }), test: REFUSED },
      ],
      readEvidenceExportS2s: [{ live: gone('RESOURCE_NOT_FOUND'), test: REFUSED }],
      downloadEvidenceExportS2s: [{ live: gone('RESOURCE_NOT_FOUND'), test: REFUSED }],
      eraseS2s: [
        {
          body: () => ({ subject: { by: 'visitor_id', value: 'nobody' }, idempotency_key: randomUUID() }),
          live: ok(202, { data: { erased_records: 0 } }),
          test: own(202, { data: { erased_records: 0, state: 'finished' } }),
        },
      ],
      listErasuresS2s: [{ live: ok(200, { data: [] }), test: own(200, { data: [] }) }],
      listDeliveriesS2s: [{ live: ok(200, { data: [] }), test: REFUSED }],
      testWebhookS2s: [{ body: () => ({ webhook_id: randomUUID() }), live: gone('RESOURCE_NOT_FOUND'), test: REFUSED }],
      sendAgainS2s: [
        {
          body: () => ({ delivery_id: randomUUID(), after_attempt: 1 }),
          live: gone('RESOURCE_NOT_FOUND'),
          test: REFUSED,
        },
      ],
      listTestEvents: [
        {
          live: { status: 403, body: { code: 'LIVE_KEY_REFUSED' } },
          test: own(200, { data: [], next_cursor: expect.any(String) }),
        },
      ],
      readErasureS2s: eachFinds('RESOURCE_NOT_FOUND', (of) => `/tool/v1/s2s/erasures/${erasures[of]}`, ok(), own()),
    };

    it('states what each gets', () => {
      expect(Object.keys(matrix).sort()).toEqual(TOOL_OPERATIONS.map(({ id }) => id).sort());
    });

    const cases = TOOL_OPERATIONS.flatMap((operation: Operation) =>
      (matrix[operation.id] ?? []).map((row) => ({ operation, row, of: row.of ?? 'nothing' })),
    );
    it.each(cases)('$operation.id, of $of', async ({ operation: { method, path }, row }) => {
      const asked = row.path?.() ?? path.replace(/\{\w+\}/g, () => randomUUID());
      for (const mode of ['live', 'test'] as const)
        expect(await call(mode, method, asked, row.body?.()), mode).toMatchObject(row[mode]);
    });
  });

  it('leave nothing in outbox, log, keys, quota and conflicts', async () => {
    const counts = `select (select count(*)::int from event_log.events where type = 'ConsentRecorded.v1') as events, (select count(*)::int from record_keys) as keys,
      (select coalesce(sum(used), 0)::int from consent_usage) as used, (select count(*)::int from idempotency_conflicts) as conflicts,
      (select count(*)::int from attachments) as attachments, (select count(*)::int from idempotency) as remembered`;
    const before = await rows(counts);
    const key = randomUUID();
    const first = await recordTest({ idempotency_key: key });
    const again = await call(
      'test',
      'post',
      '/tool/v1/consents',
      consent({ idempotency_key: key, decision: 'rejected' }),
    );
    expect(again.headers.get('idempotency-mismatch')).toBe('true');
    expect(again.body).toMatchObject({ data: { consent_token: first.consent_token, duplicate: true }, test: true });
    expect(await rows(counts)).toEqual(before);
  });

  it('keep neither address nor user agent, also if a backend states them, and no content of an attachment', async () => {
    const image =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const visitor_id = randomUUID();
    await recordTest({ visitor_id, signature_image: image });
    const stated = { ip_address: '198.51.100.4', user_agent: 'Phone' };
    await recordTest({ visitor_id, ...stated, otp_reference: 'otp-1' }, '/tool/v1/s2s/consents');
    const { body } = await call('test', 'get', `/tool/v1/s2s/consents/export?visitor_id=${visitor_id}`);
    const nothing = { ip_address: null, user_agent: null, signature_image: null, attachments: [] };
    expect(body).toMatchObject({ data: [nothing, { ...nothing, otp_reference: 'otp-1' }] });
  });

  it('use approval tokens of their own once, and no other', async () => {
    const version = backend.version('consent_form');
    const minted = async (mode: Mode): Promise<unknown> => {
      const asked = { document_version_id: version, subject: 'signer' };
      const { body } = await call(mode, 'post', '/tool/v1/s2s/approval-tokens', asked);
      return z.object({ data: z.object({ approval_token: z.string() }) }).parse(body).data.approval_token;
    };
    const approve = (mode: Mode, approval_token: unknown): Promise<Answer> =>
      call(mode, 'post', '/tool/v1/consents', {
        ...consent({ approval_token, document_version_id: version, consent_type: 'document_approval' }),
      });
    const [live, test] = [await minted('live'), await minted('test')];
    const invalid = { status: 422, body: { code: 'APPROVAL_TOKEN_INVALID' } };
    expect(await approve('test', live)).toMatchObject(invalid);
    expect(await approve('live', test)).toMatchObject(invalid);
    expect(await approve('test', test)).toMatchObject({ status: 202, body: { test: true } });
    expect(await approve('test', test)).toMatchObject({ status: 422, body: { code: 'APPROVAL_TOKEN_CONFLICT' } });
  });

  it('are checked as live keys are', async () => {
    const nonce = signedHeaders(keys.test, '/tool/v1/consents', JSON.stringify(consent()));
    for (const expected of [{ status: 202 }, { status: 401, body: { code: 'NONCE_REPLAYED' } }])
      expect(await call('test', 'post', '/tool/v1/consents', consent(), nonce)).toMatchObject(expected);
    const outdated = consent({ document_version_id: randomUUID() });
    const batch = { consents: [consent(), outdated] };
    const whole = { status: 409, body: { code: 'CONFIG_OUTDATED' } };
    expect(await call('test', 'post', '/tool/v1/consents', outdated)).toMatchObject(whole);
    expect(await call('test', 'post', '/tool/v1/consents/batch', batch)).toMatchObject(whole);
  });

  it('alone are told which text the service signed', async () => {
    const body = JSON.stringify(consent());
    for (const [mode, text] of [
      ['test', /"POST\\n\/tool\/v1\/consents\\n\d+\\n[\w-]+\\n[0-9a-f]{64}"$/],
      ['live', /with the API key\.$/],
    ] as const) {
      const answer = await call(mode, 'post', '/tool/v1/consents', consent(), { 'x-signature': 'f'.repeat(64) });
      expect(answer, body).toMatchObject({
        status: 401,
        body: { code: 'INVALID_SIGNATURE', message: expect.stringMatching(text) },
      });
    }
  });

  it('erase the test records of a person, and list them, and leave the records', async () => {
    const visitor_id = randomUUID();
    const live = await backend.record({ visitor_id });
    const test = await recordTest({ visitor_id });
    const order = { subject: { by: 'visitor_id', value: visitor_id }, idempotency_key: randomUUID() };
    for (const _ of ['first', 'repeated'])
      expect(await call('test', 'post', '/tool/v1/s2s/erasures', order)).toMatchObject({
        status: 202,
        body: { data: { state: 'finished', erased_records: 1 }, test: true },
      });
    const erased_record = { id: idOf(test.consent_token), consent_token: test.consent_token };
    expect(await call('test', 'get', '/tool/v1/s2s/erasures')).toMatchObject({ body: { data: [{ erased_record }] } });
    expect(await call('test', 'get', `/tool/v1/consents/verify/${test.consent_token}`)).toMatchObject({
      body: { valid: false, data: { is_anonymized: true } },
    });
    expect(await call('test', 'get', '/tool/v1/s2s/consents/export?include_erasures=true&limit=1000')).toMatchObject({
      body: {
        data: expect.arrayContaining([
          expect.objectContaining({ id: erased_record.id, is_anonymized: true, visitor_id: null }),
          expect.objectContaining({ erased_record }),
        ]),
      },
    });
    expect(await rows('select from record_keys where event_id = $1', [idOf(live.consent_token)])).toHaveLength(1);
  });

  describe('read what webhooks would get', () => {
    const PATH = '/tool/v1/test-events';
    const Events = z.object({
      data: z.array(z.strictObject({ id: z.string(), type: z.string(), body: z.string() })),
      next_cursor: z.string(),
    });
    const eventsAfter = async (cursor?: string, limit = 100): Promise<z.output<typeof Events>> => {
      const path = cursor === undefined ? PATH : `${PATH}?cursor=${cursor}&limit=${limit}`;
      return Events.parse((await call('test', 'get', path)).body);
    };
    const erase = (by: string, value: string) =>
      call('test', 'post', '/tool/v1/s2s/erasures', { subject: { by, value }, idempotency_key: randomUUID() });

    it('of records and erasures from the first request on, with their bodies, in their order', async () => {
      const { next_cursor: begin } = await eventsAfter();
      const visitor_id = randomUUID();
      const [first, second] = [await recordTest({ visitor_id }), await recordTest({ decision: 'withdrawn' })];
      await erase('record', idOf(second.consent_token));
      await erase('visitor_id', visitor_id);
      const { data, next_cursor: end } = await eventsAfter(begin);
      const recorded = ({ consent_token, proof_hash }: typeof first, decision: string) => ({
        ...{
          site_id: backend.demo.site.id,
          event_id: idOf(consent_token),
          consent_token,
          consent_type: 'cookie',
          decision,
        },
        ...{
          categories: null,
          services: null,
          language: 'en',
          document_version_id: backend.version('cookie_policy'),
          channel: 'browser',
        },
        ...{
          valid_until: expect.any(String),
          ask_again_at: decision === 'withdrawn' ? expect.any(String) : null,
          rule_id: null,
          scope: 'device',
          proof_hash,
          revision: expect.any(Number),
        },
      });
      const erased = ({ consent_token }: typeof first, reason: string) => ({
        site_id: backend.demo.site.id,
        event_id: idOf(consent_token),
        consent_token,
        reason,
        erased_by_event_id: expect.any(String),
        revision: expect.any(Number),
      });
      const bodies = data.map(({ body }) => JSON.parse(body));
      expect(bodies).toEqual(
        [
          ['consent.recorded', recorded(first, 'accepted')],
          ['consent.withdrawn', recorded(second, 'withdrawn')],
          ['consent.erased', erased(second, 'record')],
          ['consent.erased', erased(first, 'person')],
        ].map(([type, data]) => ({ type, timestamp: expect.any(String), data })),
      );
      expect(data.map(({ type }) => type)).toEqual(bodies.map(({ type }) => type));
      expect(data[0]?.id).toBe(`msg_${idOf(first.consent_token)}`);
      expect(new Set(data.map(({ id }) => id)).size).toBe(4);
      const paged: unknown[] = [];
      for (let at = begin; at !== end; ) {
        const page = await eventsAfter(at, 1);
        paged.push(...page.data);
        at = page.next_cursor;
      }
      expect(paged).toEqual(data);
      expect(await eventsAfter(end)).toEqual({ data: [], next_cursor: end });
    });

    it('without passing over a record that is stored between two statements', async () => {
      const { next_cursor: begin } = await eventsAfter();
      const { apiPool } = app.service.installation;
      const query = apiPool.query.bind(apiPool);
      let late = '';
      const spy = vi.spyOn(apiPool, 'query').mockImplementation(async (...given: unknown[]) => {
        if (late === '' && String(given[0]).includes('erased_number > $2')) {
          late = 'being recorded';
          late = (await recordTest()).consent_token;
          await erase('record', idOf(late));
        }
        return Reflect.apply(query, apiPool, given);
      });
      const first = await eventsAfter(begin).finally(() => spy.mockRestore());
      expect(late).not.toBe('');
      const second = await eventsAfter(first.next_cursor);
      expect([...first.data, ...second.data].map(({ type }) => type)).toEqual(['consent.recorded', 'consent.erased']);
    });

    it('never of another site, nor with a key that browsers may have', async () => {
      const { adminPool } = app.service.installation;
      const other = await app.seed();
      const { key } = await createApiKey(adminPool, other.site.id, 'read', { mode: 'test', restriction: 'secret' });
      await recordTest();
      const begin = Buffer.from('v1:0').toString('base64url');
      expect((await eventsAfter(begin)).data).not.toEqual([]);
      expect(await ask(`${app.url}${PATH}?cursor=${begin}`, { headers: { 'x-api-key': key } })).toMatchObject({
        status: 200,
        body: { data: [] },
      });
      for (const restriction of ['publishable', null] as const) {
        const { key } = await createApiKey(adminPool, backend.demo.site.id, 'write', { mode: 'test', restriction });
        const headers = { 'x-api-key': key, origin: `https://${backend.demo.site.domain}` };
        const expected = { status: 403, body: { code: 'INSUFFICIENT_SCOPE' } };
        expect(await ask(app.url + PATH, { headers }), String(restriction)).toMatchObject(expected);
      }
    });
  });

  it('lose their records of a person whom the site erases', async () => {
    const visitor_id = randomUUID();
    const { consent_token } = await recordTest({ visitor_id });
    await backend.erase(visitor_id);
    await expect
      .poll(() => rows('select from test_records where event_id = $1', [idOf(consent_token)]))
      .toHaveLength(0);
  });

  it('leave public verification with nothing but the reason', async () => {
    const { consent_token, proof_hash } = await recordTest();
    const path = `${app.url}/api/v1/public/consents`;
    for (const token of [consent_token, JSON.stringify({ consent_token, decision: 'accepted' })])
      expect(await ask(`${path}/verify?token=${encodeURIComponent(token)}`)).toMatchObject({
        status: 200,
        body: { valid: false, reason: 'test', source: 'client_token', server_record_found: false },
      });
    for (const query of [`id=${idOf(consent_token)}`, `proof_hash=${proof_hash}`])
      expect(await ask(`${path}/verify?${query}`)).toMatchObject({ status: 404, body: { valid: false } });
    expect(await ask(`${path}/${consent_token}/receipt`)).toMatchObject({ status: 404 });
  });

  it('keep 10,000 records of a site, the newest, for 30 days', async () => {
    const { consent_token: oldest } = await recordTest();
    await app.superuser.query(
      `insert into test_records (event_id, site_id, body, proof_hash)
         select gen_random_uuid(), $1, '', '' from generate_series(1, 10000)`,
      [backend.demo.site.id],
    );
    await recordTest();
    expect(
      await rows('select count(*)::int as kept from test_records where site_id = $1', [backend.demo.site.id]),
    ).toEqual([{ kept: 10_000 }]);
    expect(await rows('select from test_records where event_id = $1', [idOf(oldest)])).toEqual([]);
    await app.superuser.query(`delete from test_records where body = ''`);
    const [young, old] = [await recordTest(), await recordTest()];
    const age = (token: string, days: number): Promise<unknown> =>
      rows(`update test_records set created_at = now() - $2 * interval '1 day' where event_id = $1`, [
        idOf(token),
        days,
      ]);
    await Promise.all([age(young.consent_token, 29), age(old.consent_token, 31)]);
    await maintainAdmission(app.service.installation.workerPool);
    const left = await rows('select event_id from test_records where event_id = any($1)', [
      [idOf(young.consent_token), idOf(old.consent_token)],
    ]);
    expect(left).toEqual([{ event_id: idOf(young.consent_token) }]);
  });

  personTokenRules(() => ({ app, backend }));

  it('stay test keys when they are rotated, and no SQL makes one a live key or the other way round', async () => {
    const { adminPool, keyring } = app.service.installation;
    const siteId = backend.demo.site.id;
    expect((await rotateApiKey(adminPool, keyring, siteId, created.id, 3600)).key).toMatch(/^svc_test_/);
    for (const [mode, to] of [
      ['live', true],
      ['test', null],
    ] as const) {
      const { id, key } = await createApiKey(adminPool, siteId, 'read', { mode });
      const ping = (): Promise<Answer> => ask(`${app.url}/tool/v1/ping`, { headers: { 'x-api-key': key } });
      await app.superuser.query('update api_keys set is_test = $2 where id = $1', [id, to]);
      expect(await ping()).toMatchObject({ status: 401, body: { code: 'INVALID_API_KEY' } });
    }
  });
});
