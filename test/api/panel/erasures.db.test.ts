import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ErasureReceipt, ErasureReceiptResponse } from '../../../schemas/api/erasures.js';
import { AnnouncementsPage, ErasuresPage } from '../../../schemas/api/panel/erasures.js';
import { eraseSubject, openErasureJournal, scrubErased } from '../../../src/erasure/index.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { ask, type RunningApp, startApp } from '../server/running-app.js';
import { RecordingTenant } from './recording-tenant.js';

type Receipt = z.infer<typeof ErasureReceipt>;
const S2S = '/tool/v1/s2s/erasures';
const RETENTION_DAYS = 35;
const StrictReceipt = z.strictObject({ data: z.strictObject(ErasureReceipt.shape) });

describe('erasures', () => {
  let app: RunningApp;
  let shop: RecordingTenant;
  let other: RecordingTenant;
  beforeAll(async () => {
    app = await startApp('serve', {
      BACKUP_RETENTION_DAYS: String(RETENTION_DAYS),
      ERASURE_ANNOUNCE_INTERVAL_SECONDS: '1',
    });
    shop = await RecordingTenant.of(app);
    other = await RecordingTenant.of(app);
  });
  afterAll(() => app.stop());

  const person = (value: string) => ({ by: 'visitor_id', value });
  const order = async (subject: object, further: object = {}): Promise<Receipt> => {
    const answer = await shop.inSite('dpo', 'POST', '/erasures', { subject, ...further });
    expect(answer.status, JSON.stringify(answer.body)).toBe(202);
    return StrictReceipt.parse(answer.body).data;
  };
  const finished = (id: string): Promise<Receipt> =>
    shop.until(ErasureReceipt, `/erasures/${id}`, ({ state }) => state === 'finished');
  const nothingToAnnounce = async (): Promise<boolean> => {
    const unannounced = 'select from erased_records where erasure_event_id is null';
    return (await app.superuser.query(unannounced)).rowCount === 0;
  };
  const keysOf = async (...ids: readonly string[]): Promise<number> =>
    (await app.superuser.query('select from record_keys where event_id = any($1)', [ids])).rowCount ?? -1;
  const announced = async (): Promise<number> =>
    (await app.superuser.query('select from erasure_events')).rowCount ?? -1;

  it('erases a person, and returns a receipt of what was destroyed, announced and remains', async () => {
    const visitor = `ada ${randomUUID()}`;
    const first = await shop.record({ visitor_id: visitor, signer_name: 'Ada' });
    const second = await shop.record({ visitor_id: visitor });
    const bystander = await shop.record({ visitor_id: 'bob' });
    await shop.backend.mint({ document_slug: 'explicit-consent', subject: visitor });
    const asked = await order(person(visitor));
    expect(asked).toMatchObject({ reason: 'person', by: 'visitor_id', channel: 'panel', record_id: null });
    const receipt = await finished(asked.id);
    expect(receipt).toMatchObject({ erased_records: 2, deleted_approval_tokens: 1, cancelled_exports: 0 });
    expect(await keysOf(first.id, second.id)).toBe(0);
    expect(await keysOf(bystander.id)).toBe(1);
    const end = Date.parse(receipt.finished_at ?? '') + RETENTION_DAYS * 86_400_000;
    expect(receipt.remains).toEqual({
      keys_sampled: false,
      scrubbed_at: null,
      backup_retention_days: RETENTION_DAYS,
      backups_until: new Date(end).toISOString(),
    });
    expect(receipt.statement.join(' ')).toContain(new Date(end).toISOString());
    expect(receipt.statement.join(' ')).toContain('admin scrub');

    const stamped = await shop.until(
      ErasureReceipt,
      `/erasures/${asked.id}`,
      ({ announcements }) => announcements.length === 2 && announcements.every(({ state }) => state === 'stamped'),
    );
    expect(stamped.unannounced_records).toBe(0);
    expect(stamped.announcements[0]?.checkpoint_size).toBeGreaterThan(stamped.announcements[0]?.batch ?? 1e9);
    const pages = await shop.inSite('dpo', 'GET', `/erasures/${asked.id}/announcements`);
    expect(AnnouncementsPage.parse(pages.body)).toEqual({ data: stamped.announcements, next_cursor: null });

    const verified = await shop.inSite('viewer', 'GET', `/consents/${first.id}/verify`);
    expect(verified.body).toMatchObject({ data: { valid: true, is_anonymized: true } });
    const disclosed = await shop.inSite('dpo', 'POST', `/consents/${first.id}/disclose`, {
      fields: ['signer_name'],
      reason: 'for the test',
    });
    expect(disclosed.body).toMatchObject({ data: { is_anonymized: true, fields: { signer_name: null } } });
    const found = await shop.inSite('dpo', 'POST', '/consents/search', {
      person: person(visitor),
      reason: 'for the test',
    });
    expect(found.body).toMatchObject({ data: [] });
    const anonymized = await shop.inSite('viewer', 'GET', '/consents?is_anonymized=true');
    expect(anonymized.body).toMatchObject({ data: [{ id: second.id }, { id: first.id }] });

    await scrubErased(app.service.installation.databaseUrl);
    const scrubbed = (await finished(asked.id)).remains.scrubbed_at;
    expect(Date.parse(scrubbed ?? '')).toBeGreaterThan(Date.parse(receipt.finished_at ?? ''));
  });

  it('erases one record, by its id or token, and leaves the person’s others', async () => {
    const visitor = `carol ${randomUUID()}`;
    const [one, two, three] = [
      await shop.record({ visitor_id: visitor }),
      await shop.record({ visitor_id: visitor }),
      await shop.record({ visitor_id: visitor }),
    ];
    const byId = await finished((await order({ by: 'record', value: one.id })).id);
    expect(byId).toMatchObject({ reason: 'record', by: 'record', record_id: one.id, erased_records: 1 });
    const byToken = await finished((await order({ by: 'record', value: two.consent_token })).id);
    expect(byToken).toMatchObject({ record_id: two.id, erased_records: 1 });
    expect(await keysOf(one.id, two.id, three.id)).toBe(1);
  });

  it('counts nothing, and says no more, for an unknown person or record, and for those of another tenant', async () => {
    const visitor = `dave ${randomUUID()}`;
    const theirs = await other.record({ visitor_id: visitor });
    // Erasures finish before they are announced.
    await expect.poll(nothingToAnnounce).toBe(true);
    const before = await announced();
    const nothing = {
      erased_records: 0,
      deleted_approval_tokens: 0,
      cancelled_exports: 0,
      destroyed_packages: 0,
      announcements: [],
      remains: {
        keys_sampled: false,
        scrubbed_at: null,
        backup_retention_days: RETENTION_DAYS,
        backups_until: null,
      },
    };
    const statements = new Set<string>();
    for (const subject of [
      person('nobody at all'),
      person(visitor),
      { by: 'signer_email', value: 'nobody@person.example' },
      { by: 'record', value: theirs.id },
      { by: 'record', value: randomUUID() },
    ]) {
      const receipt = await finished((await order(subject)).id);
      expect(receipt).toMatchObject(nothing);
      statements.add(receipt.statement.join());
    }
    expect(statements.size).toBe(1);
    expect(await keysOf(theirs.id)).toBe(1);
    expect(await announced()).toBe(before);
  });

  it('returns the same erasure for the same request, and another one for another person', async () => {
    const key = randomUUID();
    const first = await order(person('erin'), { idempotency_key: key });
    const again = await order(person('erin'), { idempotency_key: key.toUpperCase() });
    expect(again.id).toBe(first.id);
    expect((await order(person('erin'))).id).not.toBe(first.id);
    expect((await order(person('frank'), { idempotency_key: key })).id).not.toBe(first.id);
    const answer = await other.inSite('dpo', 'POST', '/erasures', { subject: person('erin'), idempotency_key: key });
    expect(ErasureReceiptResponse.parse(answer.body).data.id).not.toBe(first.id);
    const both = await Promise.all(
      Array.from({ length: 6 }, () => shop.post(S2S, { subject: person('grace'), idempotency_key: key })),
    );
    expect(new Set(both.map(({ body }) => ErasureReceiptResponse.parse(body).data.id)).size).toBe(1);
  });

  it('lists them, the newest first, those by the retention period too', async () => {
    const { workerPool: pool, keyring, config } = app.service.installation;
    const journal = openErasureJournal(config.erasureJournal);
    await app.change('update sites set retention_days = 400 where id = $1', [shop.siteId]);
    const old = await eraseSubject(
      { db: pool, keyring, journal },
      {
        siteId: shop.siteId,
        by: { kind: 'retention', before: new Date(Date.UTC(2020, 0, 1)) },
      },
    );
    const list = async (query: string) => {
      const answer = await shop.inSite('dpo', 'GET', `/erasures${query}`);
      expect(answer.status).toBe(200);
      return ErasuresPage.parse(answer.body);
    };
    const all = await list('');
    expect(all.data[0]).toMatchObject({
      id: old.id,
      reason: 'retention',
      by: 'age',
      older_than: '2020-01-01T00:00:00.000Z',
      channel: 'service',
      state: 'finished',
    });
    expect(all.retention.retention_days).toBe(400);
    expect(Date.parse(all.retention.erases_before ?? '')).toBeLessThan(Date.now() - 399 * 86_400_000);
    expect((await list('?reason=retention')).data).toHaveLength(1);
    expect((await list('?reason=record')).data).toHaveLength(4);
    await expect.poll(async () => (await list('?state=pending')).data.length).toBe(0);
    expect((await list('?state=finished')).data).toHaveLength(all.data.length);
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await list(`?limit=3${cursor}`);
      ids.push(...page.data.map(({ id }) => id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(ids).toEqual(all.data.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    const foreignCursor = Buffer.from(JSON.stringify(['announcements', old.id])).toString('base64url');
    expect((await shop.inSite('dpo', 'GET', `/erasures?cursor=${foreignCursor}`)).status).toBe(422);
  });

  it('permits owner and DPO, and refuses users of another tenant', async () => {
    const { id } = await order(person('heidi'));
    for (const role of ['admin', 'viewer'] as const) {
      expect((await shop.inSite(role, 'POST', '/erasures', { subject: person('heidi') })).status).toBe(403);
      expect((await shop.inSite(role, 'GET', '/erasures')).status).toBe(403);
      expect((await shop.inSite(role, 'GET', `/erasures/${id}`)).status).toBe(403);
    }
    for (const path of [`/erasures/${id}`, `/erasures/${id}/announcements`]) {
      expect(await other.inSite('owner', 'GET', path)).toMatchObject({
        status: 404,
        body: { code: 'RESOURCE_NOT_FOUND' },
      });
      expect((await other.as('owner', 'GET', `/sites/${shop.siteId}${path}`)).status).toBe(404);
    }
    const count = async () => (await app.superuser.query('select from erasure_requests')).rowCount;
    const before = await count();
    expect(
      (await other.as('owner', 'POST', `/sites/${shop.siteId}/erasures`, { subject: person('heidi') })).status,
    ).toBe(404);
    expect(await count()).toBe(before);
    expect((await other.get(`${S2S}/${id}`)).status).toBe(404);
    expect((await shop.get(`${S2S}/${id}`)).status).toBe(200);
  });

  it('refuses invalid subjects', async () => {
    for (const subject of [
      null,
      {},
      { by: 'visitor_id' },
      { by: 'visitor_id', value: '  ' },
      { by: 'visitor_id', value: 'x'.repeat(255) },
      { by: 'visitor_id', value: ['a', 'b'] },
      { by: 'record', value: 'not an id' },
      { by: 'record', value: '*' },
      { by: 'age', value: '2020-01-01' },
      { by: 'site_id', value: shop.siteId },
      { by: 'visitor_id', value: 'x', site_id: other.siteId },
    ]) {
      expect((await shop.inSite('dpo', 'POST', '/erasures', { subject })).status, JSON.stringify(subject)).toBe(422);
      const answer = await shop.post(S2S, { subject, idempotency_key: randomUUID() });
      expect(answer.status, JSON.stringify(subject)).toBe(422);
    }
    expect((await shop.post(S2S, { subject: person('x') })).status).toBe(422);
    expect((await shop.post(S2S, { subject: person('x'), idempotency_key: 'x' })).status).toBe(422);
  });

  it('is in the audit log, which names no person', async () => {
    const { rows } = await app.superuser.query(
      'select action, subject_kind, details, audit_log::text as line from audit_log',
    );
    const lines = z.array(z.object({ action: z.string(), subject_kind: z.string(), line: z.string() })).parse(rows);
    expect(lines.filter(({ action }) => action === 'erasure.create').length).toBeGreaterThan(10);
    for (const { line } of lines) expect(line).not.toMatch(/erin|frank|grace|heidi|nobody|person\.example/);
  });

  describe('by a backend', () => {
    it('erases once for each idempotency key', async () => {
      const email = `${randomUUID()}@person.example`;
      const record = await shop.record({ visitor_id: randomUUID(), signer_email: email });
      const request = { subject: { by: 'signer_email', value: email.toUpperCase() }, idempotency_key: randomUUID() };
      const answer = await shop.post(S2S, request);
      expect(answer.status).toBe(202);
      const { id } = StrictReceipt.parse(answer.body).data;
      const receipt = await finished(id);
      expect(receipt).toMatchObject({ channel: 's2s', by: 'signer_email', erased_records: 1 });
      expect(await keysOf(record.id)).toBe(0);
      const later = await shop.record({ visitor_id: randomUUID(), signer_email: email });
      const again = await shop.post(S2S, request);
      expect(again).toMatchObject({ status: 202, body: { data: { id, state: 'finished', erased_records: 1 } } });
      expect(await keysOf(later.id)).toBe(1);
      expect(await shop.get(`${S2S}/${id}`)).toMatchObject({ status: 200, body: { data: { id, erased_records: 1 } } });
      const lines = await app.superuser.query('select from audit_log where subject_id = $1', [id]);
      expect(lines.rowCount).toBe(1);
    });

    it('requires key, signature, new nonce, scope and bearer token', async () => {
      const body = JSON.stringify({ subject: person('ivan'), idempotency_key: randomUUID() });
      const { keys } = shop.backend.demo;
      const send = (headers: Record<string, string>) => ask(app.url + S2S, { method: 'POST', headers, body });
      const signed = signedHeaders(keys.write, S2S, body);
      expect((await send({ 'content-type': 'application/json' })).body).toMatchObject({ code: 'MISSING_API_KEY' });
      expect((await send(signed)).body).toMatchObject({ code: 'MISSING_BEARER_TOKEN' });
      const wrong = { ...signed, 'x-signature': '0'.repeat(64), ...shop.backend.bearer };
      expect((await send(wrong)).body).toMatchObject({ code: 'INVALID_SIGNATURE' });
      const readOnly = { ...signedHeaders(keys.read, S2S, body), ...shop.backend.bearer };
      expect((await send(readOnly)).body).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
      expect((await send({ ...signed, ...other.backend.bearer })).body).toMatchObject({ code: 'TENANT_MISMATCH' });
      expect((await send({ ...signed, ...shop.backend.bearer })).status).toBe(202);
      expect((await send({ ...signed, ...shop.backend.bearer })).body).toMatchObject({ code: 'NONCE_REPLAYED' });
      for (const id of ['x', '%27', randomUUID()]) expect((await shop.get(`${S2S}/${id}`)).status).toBe(404);
    });
  });
});
