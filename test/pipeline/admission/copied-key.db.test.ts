import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConsentBatchResponse } from '../../../schemas/api/consents.js';
import { readPipelineState } from '../../../src/app/metrics/state-query.js';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { figures } from '../../support/figures.js';
import { type ApiProcess, post, startApiProcess } from './api-process.js';
import { type AdmissionDatabase, openAdmissionDatabase } from './database.js';
import { createSiteFixture, type SiteFixture } from './site-fixture.js';
import { BATCH, codes, cookie, SINGLE, times } from './two-apis.js';

describe('a publishable key that was copied from a page', () => {
  let database: AdmissionDatabase;
  let api: ApiProcess;
  beforeAll(async () => {
    database = await openAdmissionDatabase();
    api = await startApiProcess(database.db, database.worker, database.master);
  });
  afterAll(async () => {
    await api?.close();
    await database?.close();
  });

  const QUOTA = 1_000;
  const RATE = 120;
  /** The largest limit of one address that the plan has. */
  const ADDRESS_RATE = 100;

  async function openSite(
    quota: number | null,
  ): Promise<{ site: SiteFixture; page: string; backend: string; origin: string }> {
    const site = await createSiteFixture(database.owner, { quota, rateLimit: RATE });
    const page = await createApiKey(database.owner, site.siteId, 'write', { restriction: 'publishable' });
    const backend = await createApiKey(database.owner, site.siteId, 'write', { restriction: 'secret' });
    const { rows } = await database.owner.query('select domain from sites where id = $1', [site.siteId]);
    return { site, page: page.key, backend: backend.key, origin: `https://${rows[0].domain}` };
  }

  /** Sends one batch of each address. @returns the number of accepted consents */
  async function flood(
    { site, page, origin }: Awaited<ReturnType<typeof openSite>>,
    addresses: number,
    consents: number,
  ): Promise<number> {
    const body = { consents: Array.from({ length: consents }, () => cookie(site)) };
    const answers = await times(addresses, (i) =>
      post(api, page, BATCH, body, { headers: { origin }, remoteAddress: `203.0.113.${i + 1}` }),
    );
    return answers
      .filter(({ status }) => status === 200 || status === 202)
      .reduce((sum, answer) => sum + ConsentBatchResponse.parse(answer.body).data.accepted, 0);
  }

  it('records from twenty addresses no more in an hour than its part of the quota, and the backend continues', async () => {
    const opened = await openSite(QUOTA);
    const { site, backend } = opened;
    let accepted = 0;
    let alarmMinute = 0;
    let lastMinute = 0;
    for (let minute = 0; minute < 60; minute += 1) {
      const now = await flood(opened, 20, 20);
      expect(now).toBeLessThanOrEqual(RATE);
      accepted += now;
      if (now > 0) lastMinute = minute;
      // The alert ConsentLedgerQuotaNearlyUsed.
      const { highestQuotaUse } = (await readPipelineState(database.worker, 1)).state;
      if (alarmMinute === 0 && (highestQuotaUse ?? 0) > 0.6) alarmMinute = minute;
      await database.owner.query('update rate_limit_windows set newest = newest - 61');
    }
    expect(accepted).toBe((QUOTA * 4) / 5);
    expect(alarmMinute).toBeGreaterThan(0);
    expect(alarmMinute).toBeLessThan(lastMinute);
    figures('copied key', { accepted, quota: QUOTA, alarmMinute, lastMinute });
    expect((await post(api, backend, SINGLE, cookie(site))).status).toBe(202);
    const rest = { consents: Array.from({ length: 100 }, () => cookie(site)) };
    for (let sent = 1; sent < QUOTA / 5; sent += 100) await post(api, backend, BATCH, rest);
    expect(codes([await post(api, backend, SINGLE, cookie(site))])).toEqual(['CONSENT_LIMIT_EXCEEDED']);
  });

  it('has consents counted for each address, and a refused batch counts for nothing', async () => {
    const opened = await openSite(null);
    expect(await flood(opened, 1, ADDRESS_RATE - 10)).toBe(ADDRESS_RATE - 10);
    expect(await flood(opened, 1, 20)).toBe(0);
    expect(await flood(opened, 1, 10)).toBe(10);
    expect(await flood(opened, 1, 1)).toBe(0);
    // Another address, up to the limit of all of them.
    expect(await flood(opened, 2, 20)).toBe(RATE - ADDRESS_RATE);
  });
});
