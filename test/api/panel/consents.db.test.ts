import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { AuditLogSearchPage } from '../../../schemas/api/panel/audit-log.js';
import { ConsentResponse, ConsentsPage } from '../../../schemas/api/panel/consents.js';
import { NAMED_KINDS } from '../../../schemas/api/panel/named-things.js';
import { ConsentStatisticsResponse } from '../../../schemas/api/panel/statistics.js';
import { byId, thingsSql } from '../../../src/api/panel/named-things.js';
import { type FoundConsents, type SearchPlace, searchConsents } from '../../../src/evidence/records/search-consents.js';
import { type RunningApp, startApp } from '../server/running-app.js';
import { RecordingTenant } from './recording-tenant.js';

type Recorded = Awaited<ReturnType<RecordingTenant['record']>>;
const Shown = ConsentResponse.shape.data;
const REASON = 'access request of 3 March';
const StrictPage = z.strictObject(ConsentsPage.shape);

describe('consents in the panel', () => {
  let app: RunningApp;
  let shop: RecordingTenant;
  let other: RecordingTenant;
  const visitor = `visitor ${randomUUID()}`;
  const ada = { signer_email: 'Ada@Person.example', signer_phone: '+44 20 7946 0000', signer_id_number: 'AB 12' };
  let cookie: Recorded;
  let partial: Recorded;
  let form: Recorded;
  let foreign: Recorded;

  beforeAll(async () => {
    app = await startApp('serve');
    shop = await RecordingTenant.of(app);
    other = await RecordingTenant.of(app);
    const categories = { necessary: true, analytics: false };
    cookie = await shop.record({ visitor_id: visitor, signer_name: 'Ada Lovelace', ...ada });
    partial = await shop.record({ decision: 'partial', categories });
    const { approval_token: token } = await shop.backend.mint({ document_slug: 'explicit-consent', subject: visitor });
    form = await shop.record({
      consent_type: 'document_approval',
      document_version_id: shop.backend.version('consent_form'),
      approval_token: token,
    });
    foreign = await other.record({ visitor_id: visitor, ...ada });
  });
  afterAll(() => app.stop());

  const list = async (query: string): Promise<string[]> => {
    const answer = await shop.inSite('viewer', 'GET', `/consents${query}`);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return StrictPage.parse(answer.body).data.map(({ id }) => id);
  };
  const search = async (person: object, further: object = {}): Promise<string[]> => {
    const answer = await shop.inSite('dpo', 'POST', '/consents/search', { person, reason: REASON, ...further });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return StrictPage.parse(answer.body).data.map(({ id }) => id);
  };

  it('lists the site’s records, the newest first, and nothing personal of them', async () => {
    const answer = await shop.inSite('viewer', 'GET', '/consents');
    const page = StrictPage.parse(answer.body);
    expect(page.data.map(({ id }) => id)).toEqual([form.id, partial.id, cookie.id]);
    expect(page.next_cursor).toBeNull();
    expect(page.data[1]).toMatchObject({
      consent_token: partial.consent_token,
      proof_hash: partial.proof_hash,
      record: { decision: 'partial', categories: { necessary: true, analytics: false }, site_id: shop.siteId },
      document_slug: 'cookie-policy',
      is_intact: true,
      is_anonymized: false,
      is_expired: false,
    });
    const text = JSON.stringify(answer.body);
    for (const value of [visitor, 'Ada', 'Lovelace', '7946', 'AB 12', '_sd']) expect(text).not.toContain(value);
  });

  it('counts them by day and decision', async () => {
    const totals = async () =>
      ConsentStatisticsResponse.parse(
        (await shop.as('viewer', 'GET', `/statistics/consents?site_id=${shop.siteId}`)).body,
      ).data.totals;
    await expect.poll(totals).toEqual({ accepted: 2, partial: 1, rejected: 0, withdrawn: 0, total: 3 });
  });

  it('filters', async () => {
    expect(await list('?decision=partial')).toEqual([partial.id]);
    expect(await list('?consent_type=document_approval')).toEqual([form.id]);
    expect(await list('?category=analytics&category_granted=false')).toEqual([partial.id]);
    expect(await list('?category=analytics&category_granted=true')).toEqual([]);
    expect(await list('?category=analytics')).toEqual([partial.id]);
    expect(await list('?document_slug=explicit-consent')).toEqual([form.id]);
    expect(await list('?document_slug=unknown')).toEqual([]);
    expect(await list(`?document_version_id=${shop.backend.version('consent_form')}`)).toEqual([form.id]);
    expect(await list('?channel=browser')).toEqual([]);
    expect(await list('?channel=s2s&decision=partial')).toEqual([partial.id]);
    expect(await list('?is_expired=true')).toEqual([]);
    expect(await list('?is_anonymized=true')).toEqual([]);
    expect(await list('?is_anonymized=false')).toHaveLength(3);
    const middle = encodeURIComponent(partial.created_at);
    expect(await list(`?to=${middle}`)).toEqual([cookie.id]);
    expect(await list(`?from=${middle}`)).toEqual([form.id, partial.id]);
    await shop.until(Shown, `/consents/${form.id}`, ({ state }) => state === 'stamped');
    expect(await list('?is_stamped=true')).toHaveLength(3);
    expect(await list('?is_stamped=false')).toEqual([]);
  });

  it('pages without losing or repeating any, and takes no cursor of another list', async () => {
    const ids: string[] = [];
    let cursor = '';
    for (;;) {
      const answer = await shop.inSite('viewer', 'GET', `/consents?limit=1${cursor}`);
      const page = StrictPage.parse(answer.body);
      ids.push(...page.data.map(({ id }) => id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(ids).toEqual([form.id, partial.id, cookie.id]);
    const audit = Buffer.from('[17]').toString('base64url');
    const wrongTime = Buffer.from(JSON.stringify(['consents', 1e300, cookie.id])).toString('base64url');
    const wrongId = Buffer.from(JSON.stringify(['consents', 5, "' or true --"])).toString('base64url');
    for (const wrong of [audit, wrongTime, wrongId, 'AAAA']) {
      const answer = await shop.inSite('viewer', 'GET', `/consents?cursor=${wrong}`);
      expect(answer, wrong).toMatchObject({ status: 422, body: { errors: [{ field: 'cursor' }] } });
    }
    // A cursor of another site lists records of this site alone.
    const theirs = Buffer.from(JSON.stringify(['consents', Date.now() + 1e6, foreign.id])).toString('base64url');
    expect(await list(`?cursor=${theirs}`)).toEqual([form.id, partial.id, cookie.id]);
  });

  it('ends a page at the limit of examined records, and continues after it', async () => {
    const { apiPool, keyring } = app.service.installation;
    const limits = { firstWindow: 1, lastWindow: 1, perRequest: 1 };
    const find = (after: SearchPlace | null) =>
      searchConsents(
        apiPool,
        keyring,
        { siteId: shop.siteId, filter: { limit: 10, consent_type: 'cookie' }, person: null, after },
        { limits },
      );
    const found: string[][] = [];
    let after: SearchPlace | null = null;
    for (let steps = 0; steps < 10; steps += 1) {
      const page: FoundConsents = await find(after);
      found.push(page.rows.map((row) => row.event_id));
      if (page.next === null) break;
      after = page.next;
    }
    expect(found.flat()).toEqual([partial.id, cookie.id]);
    expect(found[0]).toEqual([]);
    expect(found.length).toBeLessThan(6);
  });

  it('finds a person by any identifier, in the own site only, for owner and DPO only', async () => {
    expect(await search({ by: 'visitor_id', value: visitor })).toEqual([form.id, cookie.id]);
    expect(await search({ by: 'signer_email', value: ' ada@person.EXAMPLE ' })).toEqual([cookie.id]);
    expect(await search({ by: 'signer_phone', value: '0044 (20) 79460000' })).toEqual([cookie.id]);
    expect(await search({ by: 'signer_id_number', value: 'AB 12' })).toEqual([cookie.id]);
    expect(await search({ by: 'signer_id_number', value: 'nobody' })).toEqual([]);
    expect(await search({ by: 'visitor_id', value: visitor }, { decision: 'partial' })).toEqual([]);
    expect(await search({ by: 'visitor_id', value: visitor }, { is_anonymized: false })).toHaveLength(2);
    const first = await shop.inSite('dpo', 'POST', '/consents/search', {
      person: { by: 'visitor_id', value: visitor },
      reason: REASON,
      limit: 1,
    });
    const page = StrictPage.parse(first.body);
    expect(page.data.map(({ id }) => id)).toEqual([form.id]);
    expect(await search({ by: 'visitor_id', value: visitor }, { cursor: page.next_cursor })).toEqual([cookie.id]);
    for (const role of ['admin', 'viewer'] as const) {
      const answer = await shop.inSite(role, 'POST', '/consents/search', {
        person: { by: 'visitor_id', value: visitor },
        reason: REASON,
      });
      expect(answer.status).toBe(403);
    }
    expect((await shop.inSite('viewer', 'GET', `/consents?visitor_id=${visitor}`)).status).toBe(422);
  });

  it('records a search in the audit log, without the person', async () => {
    await search({ by: 'signer_email', value: ada.signer_email });
    const { rows } = await app.superuser.query(
      'select action, subject_id, details::text, audit_log::text as line from audit_log',
    );
    const lines = z
      .array(z.object({ action: z.string(), subject_id: z.string(), details: z.string(), line: z.string() }))
      .parse(rows);
    expect(lines.at(-1)).toMatchObject({ action: 'consent.search', subject_id: shop.siteId });
    expect(lines.at(-1)?.details).toContain('signer_email');
    for (const { line } of lines) expect(line.toLowerCase()).not.toContain('person.example');
    expect(app.log().toLowerCase()).not.toContain('person.example');
    expect(app.log()).not.toContain(visitor);
  });

  it('reads one by id and by token, with its seal and stamp', async () => {
    const stamped = await shop.until(Shown, `/consents/${cookie.consent_token}`, ({ state }) => state === 'stamped');
    expect(stamped).toMatchObject({ id: cookie.id, is_intact: true, stream: `consents-${shop.siteId}` });
    const { checkpoint } = stamped.sealing;
    expect(checkpoint?.size).toBeGreaterThan(stamped.sealing.batch ?? Number.POSITIVE_INFINITY);
    expect((await fetch(app.url + (checkpoint?.tokens[0] ?? ''))).status).toBe(200);
    expect(checkpoint?.authorities).toEqual(['development']);
  });

  it('verifies one, and notices what was altered', async () => {
    await shop.until(Shown, `/consents/${partial.id}`, ({ state }) => state === 'stamped');
    const verify = () => shop.inSite('viewer', 'GET', `/consents/${partial.id}/verify`);
    expect((await verify()).body).toMatchObject({
      data: { id: partial.id, valid: true, hash_valid: true, merkle_valid: true, is_tsa_stamped: true },
    });
    const swap = (from: string, to: string) =>
      app.superuser.query(`update read_model.consents set decision = $2 where event_id = $1 and decision = $3`, [
        partial.id,
        to,
        from,
      ]);
    await swap('partial', 'accepted');
    expect((await verify()).body).toMatchObject({ data: { valid: false, hash_valid: true } });
    expect((await shop.inSite('viewer', 'GET', `/consents/${partial.id}`)).body).toMatchObject({
      data: { is_intact: false, record: { decision: 'partial' } },
    });
    await swap('accepted', 'partial');
    expect((await verify()).body).toMatchObject({ data: { valid: true } });
  });

  it('shows a record whose row names the place of another one as not intact', async () => {
    const move = (revision: string) =>
      app.superuser.query(`update read_model.consents set revision = ${revision} where event_id = $1`, [partial.id]);
    const { rows } = await app.superuser.query('select revision from read_model.consents where event_id = $1', [
      partial.id,
    ]);
    const [{ revision }] = z.tuple([z.object({ revision: z.int() })]).parse(rows);
    const read = (path: string) => shop.inSite('viewer', 'GET', path);
    await move(`(select revision from read_model.consents where event_id = '${cookie.id}')`);
    const [listed, shown, verified] = [
      await read('/consents'),
      await read(`/consents/${partial.id}`),
      await read(`/consents/${partial.id}/verify`),
    ];
    await move('revision + 1000');
    const [lacking, shownLacking] = [await read('/consents'), await read(`/consents/${partial.id}`)];
    await move(String(revision));
    const intact = Object.fromEntries(StrictPage.parse(listed.body).data.map((one) => [one.id, one.is_intact]));
    expect(intact).toEqual({ [form.id]: true, [partial.id]: false, [cookie.id]: true });
    expect(shown.body).toMatchObject({ data: { is_intact: false, record: null } });
    expect(verified.body).toMatchObject({ data: { valid: false, merkle_valid: false } });
    for (const answer of [lacking, shownLacking])
      expect(answer).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
    expect((await read(`/consents/${partial.id}`)).body).toMatchObject({ data: { is_intact: true } });
  });

  it('discloses chosen fields to owner and DPO, and writes down which', async () => {
    const disclose = (role: 'dpo' | 'admin' | 'viewer', fields: unknown, id = cookie.id) =>
      shop.inSite(role, 'POST', `/consents/${id}/disclose`, { fields, reason: REASON });
    expect((await disclose('dpo', ['signer_name', 'signer_email', 'metadata'])).body).toEqual({
      data: {
        id: cookie.id,
        is_anonymized: false,
        fields: { signer_name: 'Ada Lovelace', signer_email: ada.signer_email, metadata: null },
        attachments: [],
      },
    });
    expect((await disclose('dpo', 'all')).body).toMatchObject({ data: { fields: { visitor_id: visitor } } });
    expect((await disclose('dpo', ['approval_token'])).status).toBe(422);
    expect((await disclose('dpo', [])).status).toBe(422);
    expect((await disclose('dpo', ['__proto__'])).status).toBe(422);
    for (const role of ['admin', 'viewer'] as const) expect((await disclose(role, 'all')).status).toBe(403);
    const { rows } = await app.superuser.query(
      `select subject_id, details from audit_log where action = 'consent.disclose' order by seq`,
    );
    expect(rows).toEqual([
      {
        subject_id: cookie.id,
        details: { site_id: shop.siteId, fields: ['signer_name', 'signer_email', 'metadata'], reason: REASON },
      },
      { subject_id: cookie.id, details: { site_id: shop.siteId, fields: 'all', reason: REASON } },
    ]);
  });

  it('asks for a reason that does not name the person, and keeps none that does', async () => {
    const person = { by: 'visitor_id', value: visitor };
    for (const reason of [undefined, '', ' a ', 'line\nbreak', 'x'.repeat(501), `for ${visitor.toUpperCase()}!`]) {
      const answer = await shop.inSite('dpo', 'POST', '/consents/search', { person, reason });
      expect(answer, reason).toMatchObject({ status: 422, body: { code: 'VALIDATION_ERROR' } });
      const asked = { filter: { visitor_id: visitor }, disclose: 'all', reason };
      expect((await shop.inSite('dpo', 'POST', '/exports', asked)).status, reason).toBe(422);
    }
    const reason = `  asked by ${ada.signer_email.toLowerCase()} (c++)  `;
    const body = { fields: ['signer_email'], reason };
    expect((await shop.inSite('dpo', 'POST', `/consents/${cookie.id}/disclose`, body)).status).toBe(200);
    const log = await shop.as('owner', 'GET', `/audit-log?subject_id=${cookie.id}&limit=1`);
    expect(log.body).toMatchObject({ data: [{ details: { reason: 'asked by […] (c++)' } }] });
  });

  describe('the search of the whole tenant', () => {
    const find = (role: 'owner' | 'admin' | 'viewer', text: string, tenant = shop) =>
      tenant.as(role, 'POST', '/search', { text });

    it('finds a record by token, proof hash and id, as people send them', async () => {
      const { proof_hash: hash } = Shown.parse(
        Object(await shop.inSite('viewer', 'GET', `/consents/${cookie.id}`)).body.data,
      );
      const hit = { id: cookie.id, kind: 'consent', name: null, site_id: shop.siteId, document_id: null };
      const token = cookie.consent_token;
      for (const text of [token, ` „${token.toUpperCase()}“. `, hash, cookie.id, cookie.id.toUpperCase()])
        expect(await find('viewer', text), text).toMatchObject({ status: 200, body: { data: [hit] } });
    });

    it('finds an erasure for those who may see erasures, and what else an id names', async () => {
      const erased = await shop.inSite('dpo', 'POST', '/erasures', { subject: { by: 'visitor_id', value: 'nobody' } });
      const { id } = Object(erased.body).data;
      expect((await find('owner', id)).body).toMatchObject({ data: [{ id, kind: 'erasure', site_id: shop.siteId }] });
      for (const role of ['admin', 'viewer'] as const) expect((await find(role, id)).body).toEqual({ data: [] });
      expect((await find('viewer', shop.siteId)).body).toMatchObject({
        data: [{ kind: 'site', name: 'Demonstration shop' }],
      });
    });

    it('finds nothing of another tenant, and refuses what may be a person', async () => {
      for (const text of [foreign.id, foreign.consent_token, foreign.proof_hash, other.siteId, randomUUID()])
        expect((await find('owner', text)).body, text).toEqual({ data: [] });
      expect((await find('owner', foreign.proof_hash, other)).body).toMatchObject({ data: [{ id: foreign.id }] });
      for (const text of [visitor, ada.signer_email, '', 'ct_12']) expect((await find('owner', text)).status).toBe(422);
    });

    it('reads by indexes, not through the records of the tenant', async () => {
      const kinds = [
        'consent',
        'erasure',
        'export',
        'site',
        'document',
        'document_version',
        'api_key',
        'webhook',
        'user',
      ];
      const client = await app.superuser.connect();
      try {
        await client.query('begin; set local enable_seqscan = off; set local role consent_ledger_api');
        for (const kind of NAMED_KINDS.filter((each) => kinds.includes(each))) {
          const { rows } = await client.query(`explain ${thingsSql([kind], byId)}`, [shop.siteId, [cookie.id]]);
          const plan = rows.map((row) => Object.values(Object(row)).join()).join('\n');
          expect(plan, plan).toMatch(/Index Cond: .*\b(?:event_)?id = ANY/);
        }
      } finally {
        await client.query('rollback');
        client.release();
      }
    });
  });

  describe('the search of the audit log', () => {
    const found = async (body: object, role: 'owner' | 'admin' = 'owner', tenant = shop) => {
      const answer = await tenant.as(role, 'POST', '/audit-log/search', body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return AuditLogSearchPage.parse(answer.body);
    };
    const word = (text: string, actions: string[] = [], kinds: string[] = []) => ({ text, actions, kinds });
    beforeAll(async () => {
      await shop.inSite('dpo', 'POST', `/consents/${partial.id}/disclose`, {
        fields: 'all',
        reason: 'Complaint 100%_7',
      });
    });

    it('names what entries concern', async () => {
      const { data, named } = await found({ action: 'consent.disclose', limit: 1 });
      const [entry] = data;
      expect(entry).toMatchObject({ subject: { id: partial.id }, details: { reason: 'Complaint 100%_7' } });
      expect(named).toContainEqual({
        id: partial.id,
        kind: 'consent',
        name: null,
        site_id: shop.siteId,
        document_id: null,
      });
      expect(named).toContainEqual(
        expect.objectContaining({ id: shop.siteId, kind: 'site', name: 'Demonstration shop' }),
      );
      expect(named).toContainEqual(
        expect.objectContaining({ id: entry?.actor.user_id, kind: 'user', name: expect.stringContaining('@') }),
      );
    });

    it('finds words in values, in names, and in what the language of the caller calls actions', async () => {
      const ids = async (...words: object[]) => (await found({ words })).data.map(({ subject }) => subject.id);
      expect(await ids(word('complaint'), word('100%_7'))).toEqual([partial.id]);
      expect(await ids(word('100%%7'))).toEqual([]);
      // A name of a member is no word of an entry.
      expect(await ids(word('reason'))).toEqual([]);
      expect((await ids(word('gösterildi', ['consent.disclose']), word('complaint'))).length).toBe(1);
      expect((await ids(word('SHOP'), word('complaint'))).length).toBe(1);
      expect((await ids(word('dpo-'), word('complaint'))).length).toBe(1);
    });

    it('filters by time, actor and site, page by page, in the own tenant alone', async () => {
      const all = await found({ limit: 500 });
      expect(all.next_cursor).toBe(null);
      const paged: number[] = [];
      let cursor: string | null = null;
      do {
        const page: z.infer<typeof AuditLogSearchPage> = await found({ limit: 3, ...(cursor !== null && { cursor }) });
        paged.push(...page.data.map(({ seq }) => seq));
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(paged).toEqual(all.data.map(({ seq }) => seq));
      const [newest] = all.data;
      expect((await found({ from: newest?.at })).data).toHaveLength(1);
      expect((await found({ to: newest?.at, limit: 500 })).data).toHaveLength(all.data.length - 1);
      const actor = newest?.actor.user_id ?? '';
      for (const entry of (await found({ actor, limit: 500 })).data) expect(entry.actor.user_id).toBe(actor);
      expect((await found({ actor: 'service' })).data.every(({ actor: { kind } }) => kind === 'service')).toBe(true);
      expect((await found({ site_id: shop.siteId })).data).not.toHaveLength(0);
      expect((await found({ site_id: shop.siteId }, 'owner', other)).data).toEqual([]);
      const theirs = new Set((await found({ limit: 500 }, 'owner', other)).data.map(({ seq }) => seq));
      expect(paged.some((seq) => theirs.has(seq))).toBe(false);
    });
  });

  it('returns 404 for records of other sites, by every identifier', async () => {
    for (const id of [
      foreign.id,
      foreign.consent_token,
      foreign.proof_hash,
      randomUUID(),
      'x',
      "1' or '1'='1",
      '%00',
    ]) {
      const path = `/consents/${encodeURIComponent(id)}`;
      for (const [method, place, body] of [
        ['GET', path, undefined],
        ['GET', `${path}/verify`, undefined],
        ['POST', `${path}/disclose`, { fields: 'all', reason: REASON }],
      ] as const) {
        const answer = await shop.inSite('owner', method, place, body);
        expect(answer, `${method} ${place}`).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } });
      }
    }
    const theirs = `/sites/${other.siteId}/consents`;
    for (const place of [
      theirs,
      `${theirs}/${foreign.id}`,
      `${theirs}/${foreign.id}/verify`,
      `${theirs}/${cookie.id}`,
    ]) {
      expect(await shop.as('owner', 'GET', place)).toMatchObject({ status: 404, body: { code: 'SITE_NOT_FOUND' } });
    }
    const person = { by: 'visitor_id', value: visitor };
    expect((await shop.as('owner', 'POST', `${theirs}/search`, { person, reason: REASON })).status).toBe(404);
    expect(
      (await shop.as('owner', 'POST', `${theirs}/${foreign.id}/disclose`, { fields: 'all', reason: REASON })).status,
    ).toBe(404);
  });

  it('refuses filters that are wrong, and takes hostile ones as values', async () => {
    const statusOf = async (query: string) => (await shop.inSite('viewer', 'GET', `/consents${query}`)).status;
    for (const query of [
      '?limit=0',
      '?limit=101',
      '?limit=1e9',
      '?decision=all',
      '?category_granted=true',
      '?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
      '?from=yesterday',
      '?from=0000-01-01T00:00:00Z',
      '?from=0001-01-01T00:00:00%2B23:59',
      '?unknown=1',
      `?consent_type=${'x'.repeat(51)}`,
      `?document_slug=${'x'.repeat(9_000)}`,
    ]) {
      expect(await statusOf(query), query.slice(0, 60)).toBe(422);
    }
    for (const query of [
      `?category=${encodeURIComponent(`'); drop table sites; --`)}`,
      '?category=%25',
      '?consent_type=a&consent_type=b',
      '?category=__proto__',
      '?from=0001-01-01T00:00:00Z',
      '?to=9999-12-31T23:59:59.999999999Z',
    ]) {
      expect(await statusOf(query), query).toBe(200);
    }
    expect(await statusOf('?category=%00')).toBe(422);
  });
});
