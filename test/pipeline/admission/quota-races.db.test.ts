import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConsentBatchResponse } from '../../../schemas/api/consents.js';
import { post } from './api-process.js';
import { createSiteFixture } from './site-fixture.js';
import { BATCH, codes, cookie, openTwoApis, SINGLE, type TwoApis, times } from './two-apis.js';

describe('quotas with two concurrent API processes', () => {
  let two: TwoApis;

  beforeAll(async () => {
    two = await openTwoApis();
  });
  afterAll(() => two?.close());

  it('admits exactly a quota of 10 from single consents and submission batches', async () => {
    const site = await createSiteFixture(two.database.owner, { quota: 10 });
    const singles = times(14, (i) => post(two.either(i), site.writeKey, SINGLE, cookie(site)));
    const batches = times(4, (i) =>
      post(two.either(i), site.writeKey, BATCH, { consents: [cookie(site), cookie(site), cookie(site)] }),
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
    expect([await two.consentEvents(site.siteId), await two.used(site)]).toEqual([10, 10]);
  });

  it('admits the items of a submission batch in order up to the remaining quota', async () => {
    const site = await createSiteFixture(two.database.owner, { quota: 2 });
    const answer = await post(two.apis[0], site.writeKey, BATCH, {
      consents: [cookie(site), cookie(site), cookie(site)],
    });
    const { results } = ConsentBatchResponse.parse(answer.body).data;
    expect(results.map(({ status }) => status)).toEqual(['accepted', 'accepted', 'rejected']);
  });

  it('counts the quota of a tenant over its sites per month, and refuses without a subscription', async () => {
    const site = await createSiteFixture(two.database.owner, { quota: 1 });
    expect((await post(two.apis[0], site.writeKey, SINGLE, cookie(site))).status).toBe(202);
    expect((await post(two.apis[1], site.writeKey, SINGLE, cookie(site))).status).toBe(429);
    await two.database.owner.query("update consent_usage set month = month - interval '1 month' where tenant_id = $1", [
      site.tenantId,
    ]);
    expect((await post(two.apis[1], site.writeKey, SINGLE, cookie(site))).status).toBe(202);
    const none = await createSiteFixture(two.database.owner, { hasSubscription: false });
    expect(codes([await post(two.apis[0], none.writeKey, SINGLE, cookie(none))])).toEqual(['NO_CONSENT_SUBSCRIPTION']);
  });
});
