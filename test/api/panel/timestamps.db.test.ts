import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConsentResponse } from '../../../schemas/api/panel/consents.js';
import { BatchesPage, CheckpointsPage, TimestampStatusResponse } from '../../../schemas/api/panel/timestamps.js';
import { BatchHeader } from '../../../schemas/evidence/batch-header.js';
import { ownBatches, ownStreams, sealedBelow } from '../../../src/api/panel/timestamp-status.js';
import { type RunningApp, startApp } from '../server/running-app.js';
import { RecordingTenant } from './recording-tenant.js';

const StrictBatches = z.strictObject(BatchesPage.shape);
type Batch = z.infer<typeof BatchesPage>['data'][number];

describe('time stamps in the panel', () => {
  let app: RunningApp;
  let shop: RecordingTenant;
  let other: RecordingTenant;
  beforeAll(async () => {
    app = await startApp('serve');
    shop = await RecordingTenant.of(app);
    other = await RecordingTenant.of(app);
    // Batches of either alone, and such as hold both.
    for (const tenants of [[shop], [other], [shop, other], [other, other, shop]]) {
      const ids = await Promise.all(tenants.map(async (tenant) => ({ tenant, id: (await tenant.record()).id })));
      for (const { tenant, id } of ids) {
        await tenant.until(ConsentResponse.shape.data, `/consents/${id}`, ({ state }) => state === 'stamped');
      }
    }
  });
  afterAll(() => app.stop());

  const pages = async (tenant: RecordingTenant, limit: number): Promise<Batch[]> => {
    const all: Batch[] = [];
    for (let cursor = ''; ; ) {
      const answer = await tenant.as('viewer', 'GET', `/timestamps/batches?limit=${limit}${cursor}`);
      expect(answer.status).toBe(200);
      const page = StrictBatches.parse(answer.body);
      all.push(...page.data);
      if (page.next_cursor === null) return all;
      cursor = `&cursor=${page.next_cursor}`;
    }
  };
  const Counted = z.array(z.object({ batch: z.int(), consents: z.int(), notices: z.int() }));
  const expected = async (tenant: RecordingTenant) => {
    const { rows } = await app.superuser.query(
      `select batch, count(*) filter (where stream like 'consents-%')::int as consents,
              count(*) filter (where stream like 'notices-%')::int as notices
         from leaves where stream like '%' || $1 group by batch order by batch desc`,
      [tenant.siteId],
    );
    return Counted.parse(rows).map(({ batch, consents, notices }) => ({
      number: batch,
      own_entries: { consents, notices },
    }));
  };

  it('lists the batches with entries of the tenant, with its own counts, and no others', async () => {
    for (const tenant of [shop, other]) {
      const batches = await pages(tenant, 100);
      const counted = await expected(tenant);
      expect(counted.length).toBeGreaterThan(3);
      expect(batches.map(({ number, own_entries }) => ({ number, own_entries }))).toEqual(counted);
      expect(await pages(tenant, 1)).toEqual(batches);
    }
    const [mine, theirs] = [await expected(shop), await expected(other)];
    expect(theirs.some(({ number }) => mine.every((one) => one.number !== number))).toBe(true);
  });

  it('shows of a batch what an evidence package of the tenant shows too', async () => {
    for (const batch of await pages(shop, 100)) {
      const header = BatchHeader.parse(JSON.parse(batch.header));
      expect(header).toMatchObject({ number: batch.number, root: batch.root, sealed_at: batch.sealed_at });
      expect(batch.checkpoint?.size).toBeGreaterThan(batch.number);
      const one = await shop.as('viewer', 'GET', `/timestamps/batches/${batch.number}`);
      expect(one.body).toEqual({ data: batch });
    }
  });

  it('answers for a batch of others like for one that does not exist', async () => {
    const mine = new Set((await expected(shop)).map(({ number }) => number));
    const theirs = (await expected(other)).map(({ number }) => number).filter((number) => !mine.has(number));
    for (const number of [...theirs, 999_999, 999_999_999_999_999]) {
      const answer = await shop.as('owner', 'GET', `/timestamps/batches/${number}`);
      expect(answer, String(number)).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } });
    }
    for (const wrong of ['-1', '1.5', '01', 'x', '1e3', '9999999999999999', "0' or '1'='1"]) {
      expect((await shop.as('owner', 'GET', `/timestamps/batches/${encodeURIComponent(wrong)}`)).status).toBe(422);
    }
    const cursor = Buffer.from(JSON.stringify(['checkpoints', 3])).toString('base64url');
    expect((await shop.as('owner', 'GET', `/timestamps/batches?cursor=${cursor}`)).status).toBe(422);
    for (const key of [-1, 1.5, 1e300, '1']) {
      const odd = Buffer.from(JSON.stringify(['batches', key])).toString('base64url');
      expect((await shop.as('owner', 'GET', `/timestamps/batches?cursor=${odd}`)).status, String(key)).toBe(422);
    }
  });

  it('finds the last entry below every batch as a full look does', async () => {
    const { apiPool } = app.service.installation;
    const streams = await ownStreams(apiPool, shop.backend.demo.tenant_id);
    const { rows } = await app.superuser.query('select max(number)::int as last from batches');
    const [{ last }] = z.tuple([z.object({ last: z.int() })]).parse(rows);
    for (const below of [null, ...Array.from({ length: last + 3 }, (_, number) => number)]) {
      const full = await app.superuser.query(
        `select distinct on (stream) stream, revision, batch from leaves
          where stream = any($1) and ($2::bigint is null or batch < $2) order by stream, revision desc`,
        [[...streams.consents, ...streams.notices], below],
      );
      const looked = z.array(z.object({ stream: z.string(), revision: z.int(), batch: z.int() })).parse(full.rows);
      const found = [...(await sealedBelow(apiPool, streams, below))].map(([stream, at]) => ({ stream, ...at }));
      const byStream = (a: { stream: string }, b: { stream: string }) => a.stream.localeCompare(b.stream);
      expect(found.sort(byStream), String(below)).toEqual(looked.sort(byStream));
    }
    expect(await ownBatches(apiPool, { consents: [], notices: [] }, null, 10)).toEqual([]);
  });

  it('lists the stamped checkpoints, with the public downloads', async () => {
    const answer = await shop.as('viewer', 'GET', '/timestamps/checkpoints?limit=2');
    const page = CheckpointsPage.parse(answer.body);
    expect(page.data).toHaveLength(2);
    const [newest, before] = page.data;
    expect(newest?.size).toBeGreaterThan(before?.size ?? 1e9);
    for (const checkpoint of page.data) {
      const note = await (await fetch(app.url + checkpoint.note)).text();
      expect(note.split('\n')[2]).toBe(Buffer.from(checkpoint.root, 'hex').toString('base64'));
      const [token = ''] = checkpoint.tokens;
      expect((await fetch(app.url + token)).headers.get('content-type')).toBe('application/timestamp-reply');
      expect(Date.parse(checkpoint.certificates_expire_at ?? '')).toBeGreaterThan(Date.now());
      expect(checkpoint.authorities).toEqual(['development']);
      const one = await shop.as('viewer', 'GET', `/timestamps/checkpoints/${checkpoint.size}`);
      expect(one.body).toEqual({ data: checkpoint });
    }
    const next = await shop.as('viewer', 'GET', `/timestamps/checkpoints?limit=100&cursor=${page.next_cursor}`);
    const rest = CheckpointsPage.parse(next.body).data;
    expect(rest.every(({ size }) => size < (before?.size ?? 0))).toBe(true);
    for (const size of ['999999', '9007199254740991']) {
      expect((await shop.as('viewer', 'GET', `/timestamps/checkpoints/${size}`)).status).toBe(404);
    }
    for (const size of ['0', '-1', 'x']) {
      expect((await shop.as('viewer', 'GET', `/timestamps/checkpoints/${size}`)).status).toBe(422);
    }
  });

  it('counts the waiting entries of the tenant, and of no other tenant', async () => {
    const status = async (tenant: RecordingTenant) =>
      TimestampStatusResponse.parse((await tenant.as('viewer', 'GET', '/timestamps/status')).body).data;
    await expect.poll(async () => (await status(other)).unstamped_entries).toBe(0);
    const idle = await status(other);
    expect(idle).toMatchObject({
      unstamped_age_seconds: null,
      unsealed_entries: 0,
      is_development: true,
      authorities: ['development'],
    });
    expect(idle.last_stamp?.authorities).toEqual(['development']);
    // An event that waits for the log, of one tenant.
    await app.superuser.query(`insert into quarantined_sites (site_id, reason) values ($1, 'test')`, [shop.siteId]);
    await shop.backend.record();
    await expect.poll(async () => (await status(shop)).unstamped_entries).toBe(1);
    const waiting = await status(shop);
    expect(waiting.unsealed_entries).toBe(1);
    expect(waiting.unstamped_age_seconds).toBeGreaterThan(0);
    expect(await status(other)).toMatchObject({ unstamped_age_seconds: null, unstamped_entries: 0 });
  });
});
