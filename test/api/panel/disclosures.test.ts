import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SearchSlots } from '../../../src/api/panel/consents/search-slots.js';
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
    tenant.inSite('dpo', 'POST', '/consents/search', { person: { by: 'visitor_id', value: visitor } });
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
      await expect.poll(waitingSearches).toBe(2);
      expect(await rename(other, 'Renamed meanwhile')).toMatchObject({ status: 200 });
      expect(await rename(slow, 'Renamed meanwhile')).toMatchObject({ status: 200 });
      expect(await waitingSearches()).toBe(2);
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
        await slow.inSite('dpo', 'POST', `/consents/${consentId}/disclose`, { fields: 'all' }),
      ]) {
        expect(answer).toMatchObject({
          status: 503,
          body: {
            code: 'SERVICE_UNAVAILABLE',
            message: 'Nothing was disclosed, because the audit log could not be written. Retry after Retry-After.',
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

describe('the slots of searches', () => {
  const options = { total: 2, perTenant: 1, waiting: 2 };

  it('give each tenant its share, in the order of arrival', async () => {
    const slots = new SearchSlots(options);
    const started: string[] = [];
    const finish = new Map<string, () => void>();
    const start = (tenant: string, name: string) =>
      slots.run(tenant, () => {
        started.push(name);
        return new Promise<void>((resolve) => finish.set(name, resolve));
      });
    const running = [start('a', 'a1'), start('a', 'a2'), start('b', 'b1')];
    expect(started).toEqual(['a1', 'b1']);
    finish.get('a1')?.();
    await expect.poll(() => started).toEqual(['a1', 'b1', 'a2']);
    finish.get('a2')?.();
    finish.get('b1')?.();
    await Promise.all(running);
  });

  it('refuse a search when too many wait, and are free again after failures', async () => {
    const slots = new SearchSlots(options);
    const gates: (() => void)[] = [];
    const hold = () => slots.run('a', () => new Promise<void>((resolve) => gates.push(resolve)));
    const held = [hold(), hold(), hold()];
    await expect(slots.run('a', async () => undefined)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    for (let done = 0; done < held.length; done += 1) {
      await expect.poll(() => gates.length).toBe(done + 1);
      gates[done]?.();
    }
    await Promise.all(held);
    await expect(slots.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    expect(await slots.run('a', async () => 'found')).toBe('found');
  });
});
