import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApprovalTokenResponse } from '../../../schemas/api/approval-tokens.js';
import { ConsentBatchResponse } from '../../../schemas/api/consents.js';
import { post } from './api-process.js';
import { activeVersion, createSiteFixture } from './site-fixture.js';
import { BATCH, codes, cookie, openTwoApis, SINGLE, statuses, type TwoApis, times } from './two-apis.js';

describe('changes during a request, with two concurrent API processes', () => {
  let two: TwoApis;

  beforeAll(async () => {
    two = await openTwoApis();
  });
  afterAll(() => two?.close());

  it('never admits a consent by a configuration that was replaced in between', async () => {
    const site = await createSiteFixture(two.database.owner);
    await times(2, (i) => post(two.either(i), site.writeKey, SINGLE, cookie(site)));
    const cookieDocument = (
      await two.database.owner.query('select document_id from document_versions where id = $1', [
        site.versions.cookieEn,
      ])
    ).rows[0].document_id;
    const [next, during] = await Promise.all([
      activeVersion(two.database.owner, site.siteId, cookieDocument, 'en'),
      times(60, (i) => post(two.either(i), site.writeKey, SINGLE, cookie(site))),
    ]);
    for (const { status, body } of during) {
      if (status !== 202) expect(body).toMatchObject({ code: 'CONFIG_OUTDATED' });
    }
    const after = await times(2, (i) => post(two.either(i), site.writeKey, SINGLE, cookie(site)));
    expect(codes(after)).toEqual(['CONFIG_OUTDATED', 'CONFIG_OUTDATED']);
    const fresh = await times(2, (i) =>
      post(two.either(i), site.writeKey, SINGLE, cookie(site, { document_version_id: next })),
    );
    expect(statuses(fresh)).toEqual([202, 202]);
    // In the log's order, no event refers to the old version after its retirement.
    const { rows } = await two.database.owner.query(
      "select type, convert_from(data, 'utf8') as body from event_log.waiting_events where site_id = $1 order by number, revision",
      [site.siteId],
    );
    const retiredAt = rows.findIndex((row) => row.type === 'DocumentVersionRetired.v1');
    expect(retiredAt).toBeGreaterThan(0);
    const later = rows.slice(retiredAt).filter((row) => row.type === 'ConsentRecorded.v1');
    expect(later.some((row) => row.body.includes(site.versions.cookieEn))).toBe(false);
  });

  it('consumes an approval token once, and never in a request that fails', async () => {
    const site = await createSiteFixture(two.database.owner, { quota: 1 });
    const bearer = await two.bearerOf(site);
    const mint = async () => {
      const answer = await post(
        two.apis[0],
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
    const answers = await times(30, (i) => post(two.either(i), site.writeKey, SINGLE, approval(token.approval_token)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(new Set(codes(answers))).toEqual(new Set(['APPROVAL_TOKEN_CONFLICT']));

    const second = await mint();
    expect(codes([await post(two.apis[0], site.writeKey, SINGLE, approval(second.approval_token))])).toEqual([
      'CONSENT_LIMIT_EXCEEDED',
    ]);
    await two.database.owner.query('update subscriptions set consent_quota = 5 where tenant_id = $1', [site.tenantId]);
    expect((await post(two.apis[1], site.writeKey, SINGLE, approval(second.approval_token))).status).toBe(202);

    const third = await mint();
    const batch = await post(two.apis[1], site.writeKey, BATCH, {
      consents: [approval(third.approval_token), approval(third.approval_token)],
    });
    const { results } = ConsentBatchResponse.parse(batch.body).data;
    expect(results).toMatchObject([
      { status: 'accepted' },
      { status: 'rejected', error_code: 'APPROVAL_TOKEN_CONFLICT', code: 422 },
    ]);

    const fourth = await mint();
    await two.database.owner.query(
      "update approval_tokens set expires_at = now() - interval '1 second' where id = $1",
      [fourth.approval_token_id],
    );
    expect(codes([await post(two.apis[1], site.writeKey, SINGLE, approval(fourth.approval_token))])).toEqual([
      'APPROVAL_TOKEN_INVALID',
    ]);
  });
});
