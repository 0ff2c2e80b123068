import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type RunningApp, startApp } from '../server/running-app.js';
import { RecordingTenant } from './recording-tenant.js';

const SEARCHES = 12;
const Waiting = z.array(z.object({ waiting: z.int() })).length(1);

describe('searches and disclosures in the panel', () => {
  let app: RunningApp;
  let slow: RecordingTenant;
  let other: RecordingTenant;
  const visitor = `visitor ${randomUUID()}`;
  let consentId: string;

  beforeAll(async () => {
    app = await startApp('serve');
    slow = await RecordingTenant.of(app);
    other = await RecordingTenant.of(app);
    consentId = (await slow.record({ visitor_id: visitor, signer_name: 'Ada Lovelace' })).id;
  });
  afterAll(() => app.stop());

  const search = (tenant: RecordingTenant) =>
    tenant.inSite('dpo', 'POST', '/consents/search', {
      person: { by: 'visitor_id', value: visitor },
      reason: 'for the test',
    });
  const rename = (tenant: RecordingTenant, name: string) => tenant.inSite('owner', 'PATCH', '', { name });
  const waitingSearches = async (): Promise<number> => {
    const { rows } = await app.superuser.query(
      `select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'
          and query like '%record_keys%' and query like '%read_model.consents%'`,
    );
    return Waiting.parse(rows)[0]?.waiting ?? 0;
  };

  it(`${SEARCHES} slow searches stop no change, neither of another tenant nor of their own`, async () => {
    const holder = await app.superuser.connect();
    await holder.query('begin');
    await holder.query('lock table read_model.consents in access exclusive mode');
    await holder.query('lock table record_keys in access exclusive mode');
    const searches = Array.from({ length: SEARCHES }, () => search(slow));
    try {
      // A tenant has one turn at a time.
      await expect.poll(waitingSearches).toBe(1);
      expect(await rename(other, 'Renamed meanwhile')).toMatchObject({ status: 200 });
      expect(await rename(slow, 'Renamed meanwhile')).toMatchObject({ status: 200 });
      expect(await waitingSearches()).toBe(1);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    for (const answer of await Promise.all(searches)) {
      expect(answer).toMatchObject({ status: 200, body: { data: [{ id: consentId }] } });
    }
  });

  it('disclose nothing if the audit log cannot be written', async () => {
    await app.superuser.query('revoke insert on audit_log from consent_ledger_api');
    try {
      for (const answer of [
        await search(slow),
        await slow.inSite('dpo', 'POST', `/consents/${consentId}/disclose`, { fields: 'all', reason: 'for the test' }),
      ]) {
        expect(answer).toMatchObject({
          status: 503,
          body: {
            code: 'SERVICE_UNAVAILABLE',
            message:
              'Nothing was disclosed, because the audit log could not be written. Retry after the time in Retry-After.',
          },
        });
        expect(answer.headers.get('retry-after')).toBe('2');
        expect(JSON.stringify(answer.body)).not.toContain('Ada');
        expect(JSON.stringify(answer.body)).not.toContain(consentId);
      }
    } finally {
      await app.superuser.query('grant insert on audit_log to consent_ledger_api');
    }
  });
});
