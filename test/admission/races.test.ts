import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ApprovalTokenResponse } from '../../schemas/api/approval-tokens.js';
import { ConsentBatchResponse, ConsentResponse } from '../../schemas/api/consents.js';
import { retireVersion } from '../../src/catalogue/retire-version.js';
import { createUser } from '../../src/catalogue/users.js';
import { type ApiProcess, newKey, type PostAnswer, post, startApiProcess } from './api-process.js';
import { type AdmissionDatabase, openAdmissionDatabase } from './database.js';
import { activeVersion, createSiteFixture, type SiteFixture } from './site-fixture.js';

const ErrorBody = z.object({ code: z.string() });
const SINGLE = '/tool/v1/consents';
const BATCH = '/tool/v1/consents/batch';

describe('admission over two API processes at once', () => {
  let database: AdmissionDatabase;
  let apis: readonly [ApiProcess, ApiProcess];

  beforeAll(async () => {
    database = await openAdmissionDatabase();
    const master = createSecretKey(randomBytes(32));
    apis = [await startApiProcess(database.pool, master), await startApiProcess(database.secondPool, master)];
  });
  afterAll(async () => {
    for (const api of apis ?? []) await api.close();
    await database?.close();
  });

  const either = (i: number): ApiProcess => apis[i % 2 === 0 ? 0 : 1];
  const cookie = (site: SiteFixture, more: Record<string, unknown> = {}) => ({
    consent_type: 'cookie',
    decision: 'accepted',
    document_version_id: site.versions.cookieEn,
    ...more,
  });
  const times = <T>(count: number, work: (i: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, i) => work(i)));
  const statuses = (answers: readonly PostAnswer[]) => answers.map(({ status }) => status).sort();
  const codes = (answers: readonly PostAnswer[]) =>
    answers.filter(({ status }) => status !== 202).map(({ body }) => ErrorBody.parse(body).code);
  const count = async (table: string, siteId: string): Promise<number> =>
    Number((await database.owner.query(`select count(*) from ${table} where site_id = $1`, [siteId])).rows[0].count);
  const consentEvents = async (siteId: string): Promise<number> =>
    Number(
      (await database.owner.query('select count(*) from outbox where stream = $1', [`consents-${siteId}`])).rows[0]
        .count,
    );
  const used = async (site: SiteFixture): Promise<number> =>
    Number(
      (
        await database.owner.query('select coalesce(sum(used), 0) as used from consent_usage where tenant_id = $1', [
          site.tenantId,
        ])
      ).rows[0].used,
    );

  it('accepts a nonce once', async () => {
    const site = await createSiteFixture(database.owner);
    const nonce = randomUUID();
    const answers = await times(40, (i) => post(either(i), site.writeKey, SINGLE, cookie(site), { nonce }));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(new Set(codes(answers))).toEqual(new Set(['NONCE_REPLAYED']));
    expect(await consentEvents(site.siteId)).toBe(1);
    const other = await createSiteFixture(database.owner);
    expect((await post(either(0), other.writeKey, SINGLE, cookie(other), { nonce })).status).toBe(202);
  });

  it('accepts a nonce once across a change of its generation, and with a timestamp 299 s ahead', async () => {
    const site = await createSiteFixture(database.owner);
    const nonces = Array.from({ length: 60 }, () => randomUUID());
    const advance = async () => {
      await database.owner.query(
        "update admission_generations set began_at = began_at - interval '1 hour' where kind = 'nonces'",
      );
      return (await database.pool.query("select advance_admission_generation('nonces') as done")).rows[0].done;
    };
    const send = (i: number) =>
      post(either(i), site.writeKey, SINGLE, cookie(site), { nonce: nonces[i % nonces.length] ?? '', ahead: 299 });
    const [first, advanced] = await Promise.all([times(180, send), advance()]);
    expect(advanced).toBe(true);
    const again = await times(60, send);
    const advancedAgain = await advance();
    const late = await times(60, send);
    expect(advancedAgain).toBe(true);
    const accepted = [...first, ...again, ...late].filter(({ status }) => status === 202);
    expect(accepted).toHaveLength(60);
    expect(await consentEvents(site.siteId)).toBe(60);
  });

  it('forgets a generation of nonces only when it is old enough', async () => {
    await database.owner.query(
      "update admission_generations set began_at = clock_timestamp() - interval '470 seconds'",
    );
    const { rows } = await database.pool.query("select advance_admission_generation('nonces') as done");
    expect(rows).toEqual([{ done: false }]);
    const slot = (await database.owner.query("select slot from admission_generations where kind = 'nonces'")).rows[0]
      .slot;
    const oldest = (slot + 1) % 3;
    await database.owner.query(`insert into nonces_${oldest} values ('\\x01')`);
    await database.owner.query(`insert into nonces_${slot} values ('\\x02')`);
    await database.owner.query("update admission_generations set began_at = began_at - interval '20 seconds'");
    expect((await database.secondPool.query("select advance_admission_generation('nonces') as done")).rows).toEqual([
      { done: true },
    ]);
    expect((await database.owner.query(`select from nonces_${oldest}`)).rowCount).toBe(0);
    expect((await database.owner.query(`select from nonces_${slot} where digest = '\\x02'`)).rowCount).toBe(1);
  });

  it('makes one record of an idempotency key and gives every caller the same answer', async () => {
    const site = await createSiteFixture(database.owner);
    const body = cookie(site, { idempotency_key: newKey() });
    const answers = await times(40, (i) => post(either(i), site.writeKey, SINGLE, body));
    expect(statuses(answers)).toEqual(Array.from({ length: 40 }, () => 202));
    const data = answers.map((answer) => ConsentResponse.parse(answer.body).data);
    expect(new Set(data.map((d) => `${d.consent_token} ${d.proof_hash} ${d.created_at}`)).size).toBe(1);
    expect(data.filter((d) => !d.duplicate)).toHaveLength(1);
    expect(answers.some(({ headers }) => 'idempotency-mismatch' in headers)).toBe(false);
    expect([await consentEvents(site.siteId), await count('record_keys', site.siteId), await used(site)]).toEqual([
      1, 1, 1,
    ]);
  });

  it('says so when the same key comes with another body, and gives the original answer', async () => {
    const site = await createSiteFixture(database.owner);
    const key = newKey();
    const answers = await times(20, (i) =>
      post(either(i), site.writeKey, SINGLE, cookie(site, { idempotency_key: key, visitor_id: `v${i}` })),
    );
    const data = answers.map((answer) => ConsentResponse.parse(answer.body).data);
    expect(new Set(data.map((d) => d.consent_token)).size).toBe(1);
    const mismatches = answers.filter(({ headers }) => headers['idempotency-mismatch'] === 'true');
    expect(mismatches).toHaveLength(19);
  });

  it('keeps browser and backend apart, and answers as before when the version is retired and the quota used up', async () => {
    const site = await createSiteFixture(database.owner, { quota: 2 });
    const { id: userId } = await createUser(database.owner, {
      tenantId: site.tenantId,
      email: `${randomUUID()}@example.com`,
      password: 'a long enough password',
      role: 'api_user',
    });
    const bearer = await apis[0].accessToken(userId);
    const body = cookie(site, { idempotency_key: newKey() });
    const fromBrowser = await post(apis[0], site.writeKey, SINGLE, body);
    const fromBackend = await post(apis[1], site.writeKey, '/tool/v1/s2s/consents', body, { bearer });
    expect(ConsentResponse.parse(fromBackend.body).data).toMatchObject({ duplicate: false });
    await retireVersion(database.owner, site.siteId, site.versions.cookieEn);
    const retried = await times(4, (i) => post(either(i), site.writeKey, SINGLE, body));
    for (const answer of retried) {
      expect(ConsentResponse.parse(answer.body).data).toEqual({
        ...ConsentResponse.parse(fromBrowser.body).data,
        duplicate: true,
      });
    }
    const fresh = await times(2, (i) => post(either(i), site.writeKey, SINGLE, cookie(site)));
    expect(codes(fresh)).toEqual(['CONFIG_OUTDATED', 'CONFIG_OUTDATED']);
    const other = cookie(site, { document_version_id: site.versions.cookieTr });
    expect(codes([await post(apis[0], site.writeKey, SINGLE, other)])).toEqual(['CONSENT_LIMIT_EXCEEDED']);
  });

  it('remembers an idempotency key for 24 hours and no longer', async () => {
    const site = await createSiteFixture(database.owner);
    const body = cookie(site, { idempotency_key: newKey() });
    const age = (interval: string) =>
      Promise.all(
        [0, 1, 2].map((slot) =>
          database.owner.query(`update idempotency_${slot} set remembered_at = remembered_at - $1::interval`, [
            interval,
          ]),
        ),
      );
    const first = ConsentResponse.parse((await post(apis[0], site.writeKey, SINGLE, body)).body).data;
    await age('23 hours 59 minutes');
    expect(ConsentResponse.parse((await post(apis[1], site.writeKey, SINGLE, body)).body).data).toEqual({
      ...first,
      duplicate: true,
    });
    await age('2 minutes');
    const anew = ConsentResponse.parse((await post(apis[1], site.writeKey, SINGLE, body)).body).data;
    expect(anew).toMatchObject({ duplicate: false });
    expect(anew.consent_token).not.toBe(first.consent_token);
    expect(ConsentResponse.parse((await post(apis[0], site.writeKey, SINGLE, body)).body).data.consent_token).toBe(
      anew.consent_token,
    );
  });

  it('meets a quota of 10 to the unit, singles and batches mixed', async () => {
    const site = await createSiteFixture(database.owner, { quota: 10 });
    const singles = times(14, (i) => post(either(i), site.writeKey, SINGLE, cookie(site)));
    const batches = times(4, (i) =>
      post(either(i), site.writeKey, BATCH, { consents: [cookie(site), cookie(site), cookie(site)] }),
    );
    const [one, many] = await Promise.all([singles, batches]);
    const inBatches = many.map((answer) => ConsentBatchResponse.parse(answer.body).data);
    const accepted =
      one.filter(({ status }) => status === 202).length + inBatches.reduce((sum, d) => sum + d.accepted, 0);
    expect(accepted).toBe(10);
    expect(new Set(codes(one))).toEqual(new Set(['CONSENT_LIMIT_EXCEEDED']));
    for (const item of inBatches.flatMap((d) => d.results)) {
      if (item.status === 'rejected') expect(item).toMatchObject({ error_code: 'CONSENT_LIMIT_EXCEEDED', code: 429 });
    }
    expect([await consentEvents(site.siteId), await used(site)]).toEqual([10, 10]);
  });

  it('grants a batch what is left of the quota, in order', async () => {
    const site = await createSiteFixture(database.owner, { quota: 2 });
    const answer = await post(apis[0], site.writeKey, BATCH, { consents: [cookie(site), cookie(site), cookie(site)] });
    const { results } = ConsentBatchResponse.parse(answer.body).data;
    expect(results.map(({ status }) => status)).toEqual(['accepted', 'accepted', 'rejected']);
  });

  it('counts the quota of a tenant over its sites, month by month, and refuses without a subscription', async () => {
    const site = await createSiteFixture(database.owner, { quota: 1 });
    expect((await post(apis[0], site.writeKey, SINGLE, cookie(site))).status).toBe(202);
    expect((await post(apis[1], site.writeKey, SINGLE, cookie(site))).status).toBe(429);
    await database.owner.query("update consent_usage set month = month - interval '1 month' where tenant_id = $1", [
      site.tenantId,
    ]);
    expect((await post(apis[1], site.writeKey, SINGLE, cookie(site))).status).toBe(202);
    const none = await createSiteFixture(database.owner, { hasSubscription: false });
    expect(codes([await post(apis[0], none.writeKey, SINGLE, cookie(none))])).toEqual(['NO_CONSENT_SUBSCRIPTION']);
  });

  it('judges again when the configuration changed meanwhile, and never by an outdated one', async () => {
    const site = await createSiteFixture(database.owner);
    await times(2, (i) => post(either(i), site.writeKey, SINGLE, cookie(site)));
    const cookieDocument = (
      await database.owner.query('select document_id from document_versions where id = $1', [site.versions.cookieEn])
    ).rows[0].document_id;
    const [next, during] = await Promise.all([
      activeVersion(database.owner, site.siteId, cookieDocument, 'en'),
      times(60, (i) => post(either(i), site.writeKey, SINGLE, cookie(site))),
    ]);
    for (const { status, body } of during) {
      if (status !== 202) expect(body).toMatchObject({ code: 'CONFIG_OUTDATED' });
    }
    const after = await times(2, (i) => post(either(i), site.writeKey, SINGLE, cookie(site)));
    expect(codes(after)).toEqual(['CONFIG_OUTDATED', 'CONFIG_OUTDATED']);
    const fresh = await times(2, (i) =>
      post(either(i), site.writeKey, SINGLE, cookie(site, { document_version_id: next })),
    );
    expect(statuses(fresh)).toEqual([202, 202]);
    // In the log's order, nothing names the old version after its retirement.
    const { rows } = await database.owner.query(
      "select type, convert_from(body, 'utf8') as body from outbox where site_id = $1 order by seq",
      [site.siteId],
    );
    const retiredAt = rows.findIndex((row) => row.type === 'DocumentVersionRetired.v1');
    expect(retiredAt).toBeGreaterThan(0);
    const later = rows.slice(retiredAt).filter((row) => row.type === 'ConsentRecorded.v1');
    expect(later.some((row) => row.body.includes(site.versions.cookieEn))).toBe(false);
  });

  it('consumes an approval token once, and never by a request that fails', async () => {
    const site = await createSiteFixture(database.owner, { quota: 1 });
    const { id: userId } = await createUser(database.owner, {
      tenantId: site.tenantId,
      email: `${randomUUID()}@example.com`,
      password: 'a long enough password',
      role: 'api_user',
    });
    const bearer = await apis[0].accessToken(userId);
    const mint = async () => {
      const answer = await post(
        apis[0],
        site.writeKey,
        '/tool/v1/s2s/approval-tokens',
        { document_slug: 'form', subject: 'person-1', signer_name: 'Ada' },
        { bearer },
      );
      expect(answer.status).toBe(201);
      return ApprovalTokenResponse.parse(answer.body).data;
    };
    const approval = (token: string) => ({
      consent_type: 'document_approval',
      decision: 'accepted',
      document_version_id: site.versions.form,
      approval_token: token,
    });
    const token = await mint();
    const answers = await times(30, (i) => post(either(i), site.writeKey, SINGLE, approval(token.approval_token)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(new Set(codes(answers))).toEqual(new Set(['APPROVAL_TOKEN_CONFLICT']));

    const second = await mint();
    expect(codes([await post(apis[0], site.writeKey, SINGLE, approval(second.approval_token))])).toEqual([
      'CONSENT_LIMIT_EXCEEDED',
    ]);
    await database.owner.query('update subscriptions set consent_quota = 5 where tenant_id = $1', [site.tenantId]);
    expect((await post(apis[1], site.writeKey, SINGLE, approval(second.approval_token))).status).toBe(202);

    const third = await mint();
    const batch = await post(apis[1], site.writeKey, BATCH, {
      consents: [approval(third.approval_token), approval(third.approval_token)],
    });
    const { results } = ConsentBatchResponse.parse(batch.body).data;
    expect(results).toMatchObject([
      { status: 'accepted' },
      { status: 'rejected', error_code: 'APPROVAL_TOKEN_CONFLICT', code: 422 },
    ]);

    const fourth = await mint();
    await database.owner.query("update approval_tokens set expires_at = now() - interval '1 second' where id = $1", [
      fourth.approval_token_id,
    ]);
    expect(codes([await post(apis[1], site.writeKey, SINGLE, approval(fourth.approval_token))])).toEqual([
      'APPROVAL_TOKEN_INVALID',
    ]);
  });
});
