import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConsentResponse } from '../../../schemas/api/consents.js';
import { retireVersion } from '../../../src/tenancy/documents/version-states.js';
import { newKey, post } from './api-process.js';
import { createSiteFixture } from './site-fixture.js';
import { codes, cookie, openTwoApis, SINGLE, statuses, type TwoApis, times } from './two-apis.js';

describe('idempotency keys with two concurrent API processes', () => {
  let two: TwoApis;

  beforeAll(async () => {
    two = await openTwoApis();
  });
  afterAll(() => two?.close());

  it('creates one record for an idempotency key and sends every client the same response', async () => {
    const site = await createSiteFixture(two.database.owner);
    const body = cookie(site, { idempotency_key: newKey() });
    const answers = await times(40, (i) => post(two.either(i), site.writeKey, SINGLE, body));
    expect(statuses(answers)).toEqual(Array.from({ length: 40 }, () => 202));
    const data = answers.map((answer) => ConsentResponse.parse(answer.body).data);
    expect(new Set(data.map((d) => `${d.consent_token} ${d.proof_hash} ${d.created_at}`)).size).toBe(1);
    expect(data.filter((d) => !d.duplicate)).toHaveLength(1);
    expect(answers.some(({ headers }) => 'idempotency-mismatch' in headers)).toBe(false);
    expect([
      await two.consentEvents(site.siteId),
      await two.count('record_keys', site.siteId),
      await two.used(site),
    ]).toEqual([1, 1, 1]);
  });

  it('reports a key that is reused with another body, and sends the original response', async () => {
    const site = await createSiteFixture(two.database.owner);
    const key = newKey();
    const answers = await times(20, (i) =>
      post(two.either(i), site.writeKey, SINGLE, cookie(site, { idempotency_key: key, visitor_id: `v${i}` })),
    );
    const data = answers.map((answer) => ConsentResponse.parse(answer.body).data);
    expect(new Set(data.map((d) => d.consent_token)).size).toBe(1);
    const mismatches = answers.filter(({ headers }) => headers['idempotency-mismatch'] === 'true');
    expect(mismatches).toHaveLength(19);
  });

  it('separates browser and backend, and repeats a response after the version is retired and the quota used up', async () => {
    const site = await createSiteFixture(two.database.owner, { quota: 2 });
    const bearer = await two.bearerOf(site);
    const body = cookie(site, { idempotency_key: newKey() });
    const fromBrowser = await post(two.apis[0], site.writeKey, SINGLE, body);
    const fromBackend = await post(two.apis[1], site.writeKey, '/tool/v1/s2s/consents', body, { bearer });
    expect(ConsentResponse.parse(fromBackend.body).data).toMatchObject({ duplicate: false });
    await retireVersion(two.database.owner, site.siteId, site.versions.cookieEn);
    const retried = await times(4, (i) => post(two.either(i), site.writeKey, SINGLE, body));
    for (const answer of retried) {
      expect(ConsentResponse.parse(answer.body).data).toEqual({
        ...ConsentResponse.parse(fromBrowser.body).data,
        duplicate: true,
      });
    }
    const fresh = await times(2, (i) => post(two.either(i), site.writeKey, SINGLE, cookie(site)));
    expect(codes(fresh)).toEqual(['CONFIG_OUTDATED', 'CONFIG_OUTDATED']);
    const other = cookie(site, { document_version_id: site.versions.cookieTr });
    expect(codes([await post(two.apis[0], site.writeKey, SINGLE, other)])).toEqual(['CONSENT_LIMIT_EXCEEDED']);
  });

  it('stores an idempotency key for 24 hours and no longer', async () => {
    const site = await createSiteFixture(two.database.owner);
    const body = cookie(site, { idempotency_key: newKey() });
    const age = (interval: string) =>
      Promise.all(
        [0, 1, 2].map((slot) =>
          two.database.owner.query(`update idempotency_${slot} set remembered_at = remembered_at - $1::interval`, [
            interval,
          ]),
        ),
      );
    const first = ConsentResponse.parse((await post(two.apis[0], site.writeKey, SINGLE, body)).body).data;
    await age('23 hours 59 minutes');
    expect(ConsentResponse.parse((await post(two.apis[1], site.writeKey, SINGLE, body)).body).data).toEqual({
      ...first,
      duplicate: true,
    });
    await age('2 minutes');
    const anew = ConsentResponse.parse((await post(two.apis[1], site.writeKey, SINGLE, body)).body).data;
    expect(anew).toMatchObject({ duplicate: false });
    expect(anew.consent_token).not.toBe(first.consent_token);
    expect(ConsentResponse.parse((await post(two.apis[0], site.writeKey, SINGLE, body)).body).data.consent_token).toBe(
      anew.consent_token,
    );
  });
});
