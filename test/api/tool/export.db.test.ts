import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PERSONAL_FIELDS } from '../../../schemas/api/export.js';
import { eraseSubject, openErasureJournal } from '../../../src/erasure/index.js';
import { EventLogUnavailable } from '../../../src/pipeline/event-log/errors.js';
import { eventually } from '../../support/wait.js';
import { get, type RunningApp, startApp } from '../server/running-app.js';
import { type Accepted, Backend, EXPORT } from './export-fixture.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==',
  'base64',
);

/** Every optional field of an S2S consent. */
const FULL = {
  decision: 'partial',
  language: 'en',
  categories: { necessary: true, analytics: false },
  visitor_region: 'BY',
  visitor_country: 'DE',
  compliance_framework: 'gdpr',
  source: 'server',
  metadata: { page: '/checkout', nested: { list: [1, 2.5, null, 'ş'] } },
  extra_fields: { campaign: 'spring' },
  presentation: { layout: 'till', control: 'sign' },
  iab: { gpp_string: 'DBABLA~CAAUAAAAAABA.YA' },
  presentation_screenshot: PNG.toString('base64'),
  signature_image: PNG.toString('base64'),
  signature_mime_type: 'image/png',
  signer_name: 'Ayşe Yılmaz',
  signer_email: 'ayse@person.example',
  signer_phone: '+90 555 000 00 00',
  signer_id_number: '12345678901',
  declaration_text: 'Okudum, kabul ediyorum.',
  drawing_duration_ms: 1234.5,
  stroke_count: 7,
  strokes_data: [{ x: 1, y: 2 }],
  input_type: 'pen',
  screen_resolution: '1920x1080',
  custom_document_content: 'Sözleşme metni',
  custom_document_mime_type: 'text/plain',
  ip_address: '198.51.100.4',
  user_agent: 'Backend/1.0',
  otp_verified: true,
  otp_reference: 'otp-77',
} as const;

describe('GET /tool/v1/s2s/consents/export', () => {
  let app: RunningApp;
  let shop: Backend;
  beforeAll(async () => {
    app = await startApp('serve');
    shop = await Backend.of(app);
  });
  afterAll(() => app.stop());
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const stored = async (backend: Backend, ...consents: readonly Accepted[]): Promise<void> => {
    const tokens = consents.map(({ consent_token }) => consent_token.slice(3));
    await expect
      .poll(async () => {
        const { rowCount } = await app.superuser.query(
          "select from read_model.consents where replace(event_id::text, '-', '') = any($1) and site_id = $2",
          [tokens, backend.demo.site.id],
        );
        return rowCount;
      })
      .toBe(tokens.length);
  };
  const storedCount = (backend: Backend, count: number): Promise<void> =>
    expect
      .poll(
        async () =>
          (await app.superuser.query('select from read_model.consents where site_id = $1', [backend.demo.site.id]))
            .rowCount,
      )
      .toBe(count);

  it('gives back every field of a backend’s consent as it was recorded', async () => {
    const visitor = `visitor ${randomUUID()}`;
    const key = randomUUID();
    const consent = await shop.record({ ...FULL, visitor_id: visitor, idempotency_key: key });
    await stored(shop, consent);
    const { data, next_cursor } = await shop.page(`?visitor_id=${encodeURIComponent(visitor)}`);
    expect(next_cursor).toBeNull();
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({
      ...FULL,
      consent_type: 'cookie',
      visitor_id: visitor,
      idempotency_key: key,
      consent_token: consent.consent_token,
      proof_hash: consent.proof_hash,
      created_at: consent.created_at,
      hash_version: 2,
      site_id: shop.demo.site.id,
      document_version_id: shop.version('cookie_policy'),
      document_slug: 'cookie-policy',
      channel: 's2s',
      identity_assurance: null,
      is_anonymized: false,
      attachments: [
        { field: 'signature_image', media_type: 'image/png', size: PNG.length, encoding: 'base64' },
        { field: 'custom_document_content', media_type: 'text/plain', size: 16, encoding: 'utf-8' },
        { field: 'presentation_screenshot', media_type: 'image/png', size: PNG.length, encoding: 'base64' },
      ],
    });
    for (const name of PERSONAL_FIELDS) expect(data[0], name).toHaveProperty(name);
    // An import alone gives a record this value.
    const given = PERSONAL_FIELDS.filter((name) => name !== 'source_record_id');
    for (const name of given) expect(data[0]?.[name as keyof (typeof data)[0]], name).not.toBeNull();
  });

  it('gives back what the connection said of a browser’s consent, and never an approval token', async () => {
    const visitor = `subject ${randomUUID()}`;
    const minted = await shop.mint({
      document_slug: 'explicit-consent',
      subject: visitor,
      signer_name: 'Vouched Name',
      otp_verified: true,
    });
    const consent = await shop.recordInBrowser({
      consent_type: 'document_approval',
      document_version_id: shop.version('consent_form'),
      approval_token: minted.approval_token,
      custom_document_content: `data:application/pdf;base64,${Buffer.from('%PDF-1.7 x').toString('base64')}`,
      ip_address: '203.0.113.5',
      otp_reference: 'made up',
    });
    await stored(shop, consent);
    const answer = await (await shop.export('?document_slug=explicit-consent')).text();
    expect(answer).not.toContain(minted.approval_token);
    expect(JSON.parse(answer).data).toMatchObject([
      {
        channel: 'browser',
        visitor_id: visitor,
        signer_name: 'Vouched Name',
        signer_email: null,
        otp_verified: true,
        otp_reference: null,
        ip_address: '127.0.0.1',
        user_agent: 'node',
        custom_document_content: Buffer.from('%PDF-1.7 x').toString('base64'),
        custom_document_mime_type: null,
        attachments: [{ field: 'custom_document_content', media_type: 'application/pdf', encoding: 'base64' }],
        identity_assurance: 'tenant_attested',
        approval_token_id: minted.approval_token_id,
        vouched: ['otp_verified', 'signer_name', 'visitor_id'],
        categories: null,
        compliance_framework: null,
      },
    ]);
  });

  it('pages through the records in the order of their recording, each once', async () => {
    const backend = await Backend.of(app);
    await backend.recordMany(450, { visitor_id: 'everybody' });
    await storedCount(backend, 450);
    const seen: string[] = [];
    let cursor: string | null = '';
    const sizes: number[] = [];
    while (cursor !== null) {
      const page: Awaited<ReturnType<Backend['page']>> = await backend.page(
        `?limit=150${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      sizes.push(page.data.length);
      seen.push(...page.data.map(({ id }) => id));
      if (page.next_cursor !== null) expect(page.data.at(-1)?.cursor).toBe(page.next_cursor);
      cursor = page.next_cursor;
    }
    expect(sizes).toEqual([150, 150, 150]);
    expect(new Set(seen).size).toBe(450);
    expect((await backend.page()).data).toHaveLength(100);

    const lines = (await (await backend.export('?format=ndjson')).text()).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(seen);
    const byAccept = await backend.export('?limit=3', { accept: 'application/json;q=0.5, Application/X-NDJSON' });
    expect(byAccept.headers.get('content-type')).toBe('application/x-ndjson');
    expect((await byAccept.text()).trimEnd().split('\n')).toEqual(lines.slice(0, 3));
    const rest = await backend.export(`?format=ndjson&cursor=${JSON.parse(lines[446] ?? '').cursor}`);
    expect((await rest.text()).trimEnd().split('\n')).toEqual(lines.slice(447));
  });

  it('filters by visitor, type, document, version and time', async () => {
    const backend = await Backend.of(app);
    const a = await backend.record({ visitor_id: 'a' });
    const b = await backend.record({ visitor_id: 'b', consent_type: 'cookie.custom' });
    const c = await backend.record({
      visitor_id: 'a',
      document_version_id: backend.version('consent_form'),
      consent_type: 'do_not_sell_opt_out',
    });
    await stored(backend, a, b, c);
    const found = async (query: string) => (await backend.page(query)).data.map((one) => one.consent_token);
    const all = [a, b, c].map((one) => one.consent_token);
    expect(await found('')).toEqual(all);
    expect(await found('?visitor_id=a')).toEqual([all[0], all[2]]);
    expect(await found('?visitor_id=a%20')).toEqual([]);
    expect(await found('?consent_type=cookie.custom')).toEqual([all[1]]);
    expect(await found('?consent_type=unheard-of')).toEqual([]);
    expect(await found('?document_slug=explicit-consent')).toEqual([all[2]]);
    expect(await found(`?document_version_id=${backend.version('cookie_policy').toUpperCase()}`)).toEqual(
      all.slice(0, 2),
    );
    expect(await found(`?document_version_id=${backend.version('cookie_policy')}&visitor_id=a`)).toEqual([all[0]]);
    expect(await found(`?from=${a.created_at}&to=${c.created_at}`)).toEqual(
      [a, b].filter((one) => one.created_at < c.created_at).map((one) => one.consent_token),
    );
    const shifted = new Date(Date.parse(c.created_at) + 1 + 3 * 3_600_000).toISOString().replace('Z', '+03:00');
    expect(await found(`?from=${encodeURIComponent(shifted)}`)).toEqual([]);
    expect(await found(`?to=${encodeURIComponent(shifted)}`)).toEqual(all);
  });

  it.each([
    ['?limit=0', ['limit']],
    ['?limit=1001', ['limit']],
    ['?limit=1e3', ['limit']],
    ['?limit=', ['limit']],
    ['?cursor=nonsense', ['cursor']],
    [`?cursor=${Buffer.from('v1:01').toString('base64url')}`, ['cursor']],
    [`?cursor=${Buffer.from('v1:9007199254740993').toString('base64url')}`, ['cursor']],
    [`?cursor=${Buffer.from('v1:1').toString('base64')}=`, ['cursor']],
    ['?from=yesterday', ['from']],
    ['?from=2026-01-01', ['from']],
    ['?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', ['to']],
    ['?consent_type=with%20space', ['consent_type']],
    ['?document_version_id=1', ['document_version_id']],
    [`?document_version_id=${randomUUID()}`, ['document_version_id']],
    ['?document_slug=No', ['document_slug']],
    ['?document_slug=unknown', ['document_slug']],
    ['?visitor_id=', ['visitor_id']],
    [`?visitor_id=${'x'.repeat(101)}`, ['visitor_id']],
    ['?format=xml', ['format']],
    ['?visitorid=a', ['visitorid']],
  ])('refuses the query %s', async (query, fields) => {
    expect(await shop.wrongFields(query)).toEqual(fields);
  });

  it('requires key and bearer token of the same tenant, and no signature', async () => {
    const other = await Backend.of(app);
    const codeOf = async (headers: Record<string, string>) =>
      (await get(app, EXPORT, shop.demo.keys.read, headers)).body;
    expect(await codeOf({})).toMatchObject({ code: 'MISSING_BEARER_TOKEN' });
    expect(await codeOf({ authorization: 'Bearer x' })).toMatchObject({ code: 'INVALID_BEARER_TOKEN' });
    expect(await codeOf(other.bearer)).toMatchObject({ code: 'TENANT_MISMATCH' });
    expect((await shop.export('', { 'x-api-key': shop.demo.keys.write })).status).toBe(200);
    expect((await shop.export('', { 'x-api-key': other.demo.keys.read })).status).toBe(403);
    const head = await fetch(app.url + EXPORT, {
      method: 'HEAD',
      headers: { 'x-api-key': shop.demo.keys.read, ...shop.bearer },
    });
    expect(head.status).toBe(405);
  });

  it('never shows another tenant’s records, not even to a cursor or a version of theirs', async () => {
    const other = await Backend.of(app);
    const theirs = await other.record({ visitor_id: 'shared reference' });
    await stored(other, theirs);
    const { data } = await other.page();
    expect(data.map(({ consent_token }) => consent_token)).toEqual([theirs.consent_token]);
    const mine = await shop.page('?limit=1000');
    expect(mine.data.map(({ consent_token }) => consent_token)).not.toContain(theirs.consent_token);
    expect((await shop.page('?visitor_id=shared%20reference')).data).toEqual([]);
    expect(await shop.wrongFields(`?document_version_id=${other.version('cookie_policy')}`)).toEqual([
      'document_version_id',
    ]);
    const beyond = await shop.page(`?cursor=${data[0]?.cursor}`);
    for (const record of beyond.data) expect(record.site_id).toBe(shop.demo.site.id);
  });

  it('shows an erased record without a personal value', async () => {
    const backend = await Backend.of(app);
    const erased = await backend.record({ ...FULL, visitor_id: 'to be erased' });
    const kept = await backend.record({ visitor_id: 'stays' });
    await stored(backend, erased, kept);
    const { workerPool, keyring } = app.service.installation;
    const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-journal-'));
    const journal = await openErasureJournal(join(folder, 'erasures.ndjson'));
    await eraseSubject(
      { db: workerPool, keyring, journal },
      { siteId: backend.demo.site.id, by: { kind: 'visitor', value: 'to be erased' } },
    );
    await rm(folder, { recursive: true });
    const { data } = await backend.page();
    expect(data).toMatchObject([
      { consent_token: erased.consent_token, proof_hash: erased.proof_hash, is_anonymized: true, attachments: [] },
      { consent_token: kept.consent_token, is_anonymized: false, visitor_id: 'stays' },
    ]);
    for (const name of PERSONAL_FIELDS) expect(data[0], name).toHaveProperty(name, null);
    expect((await backend.page('?visitor_id=to%20be%20erased')).data).toEqual([]);
  });

  it('returns no record for which log and read model differ', async () => {
    const backend = await Backend.of(app);
    await stored(backend, await backend.record({}), await backend.record({ visitor_id: 'second' }));
    const { eventLog } = app.service.installation;
    const real = eventLog.readStream.bind(eventLog);
    // The rest of the service goes on reading what is there.
    vi.spyOn(eventLog, 'readStream').mockImplementation(async (stream, from, limit) => {
      const events = await real(stream, from, limit);
      return stream.startsWith('consents-') ? events.map((event) => ({ ...event, id: randomUUID() })) : events;
    });
    const answer = await backend.export();
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({ code: 'INTERNAL_ERROR' });
  });
});

describe('a large export', () => {
  const COUNT = 700;
  let app: RunningApp;
  let backend: Backend;
  beforeAll(async () => {
    app = await startApp('serve');
    backend = await Backend.of(app);
    const filling = { filling: 'x'.repeat(16_000) };
    await backend.recordMany(COUNT, { metadata: filling, extra_fields: filling, declaration_text: 'x'.repeat(10_000) });
    await eventually(async () => {
      const { rowCount } = await app.superuser.query('select from read_model.consents');
      if (rowCount !== COUNT) throw new Error(`${rowCount} of ${COUNT} records are there`);
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('is answered 503 while the event log is down, and ends its connection if that fails later', async () => {
    const { eventLog } = app.service.installation;
    const real = eventLog.readStream.bind(eventLog);
    let failsFrom = 0;
    vi.spyOn(eventLog, 'readStream').mockImplementation(async (stream, from, limit) => {
      if (isOurs(stream) && from >= failsFrom) throw new EventLogUnavailable('it is away');
      return real(stream, from, limit);
    });
    const refused = await backend.export();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('2');
    expect(await refused.json()).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    failsFrom = COUNT - 200;
    const cut = await backend.export('?format=ndjson');
    expect(cut.status).toBe(200);
    await expect(cut.text()).rejects.toThrow();
    expect(app.log()).toContain('a record export ended early');
  });
  it('does not keep the service from stopping', async () => {
    const answer = await backend.export('?format=ndjson');
    expect(answer.status).toBe(200);
    const [text] = await Promise.allSettled([answer.text(), app.stop()]);
    expect(text.status).toBe('rejected');
  });

  const isOurs = (stream: string): boolean => stream === `consents-${backend.demo.site.id}`;
});
