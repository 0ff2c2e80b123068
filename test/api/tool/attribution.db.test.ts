import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ErasureReceipt, ErasureReceiptResponse } from '../../../schemas/api/erasures.js';
import { RecordingTenant } from '../panel/recording-tenant.js';
import { type RunningApp, startApp } from '../server/running-app.js';

const Columns = z.array(z.object({ name: z.string(), type: z.string() }));
const Found = z.object({ data: z.array(z.object({ id: z.string() })) });
const Status = z.object({ data: z.object({ consents: z.array(z.object({ id: z.string() })) }) });

/** Another value of a column's type. */
const CHANGED: Readonly<Record<string, (column: string) => string>> = {
  bytea: (column) =>
    `coalesce(set_byte(${column}, 0, get_byte(${column}, 0) # 1), '\\x00112233445566778899aabbccddeeff')`,
  uuid: () => 'gen_random_uuid()',
};

describe('a row of record_keys that was altered by SQL', () => {
  let app: RunningApp;
  let shop: RecordingTenant;
  const person = (name: string) => ({
    visitor_id: `visitor-${name}-${randomUUID()}`,
    signer_name: `${name} Lovelace`,
    signer_email: `${name}-${randomUUID()}@person.example`,
  });
  const [ada, bob] = [person('ada'), person('bob')];
  let ofAda: { id: string };
  let second: { id: string };
  let ofBob: { id: string };
  beforeAll(async () => {
    app = await startApp('serve');
    shop = await RecordingTenant.of(app);
    await app.superuser.query(
      'alter table event_log.events disable trigger append_only; alter table event_log.events disable trigger kept_in_log',
    );
    [ofAda, ofBob, second] = [await shop.record(ada), await shop.record(bob), await shop.record(ada)];
  });
  afterAll(() => app.stop());

  const status = async (visitor: string): Promise<string[]> => {
    const answer = await shop.get(`/tool/v1/consents/status?visitor_id=${visitor}`);
    expect(answer.status).toBe(200);
    return Status.parse(answer.body).data.consents.map(({ id }) => id);
  };
  const search = async (by: string, value: string): Promise<string[]> => {
    const answer = await shop.inSite('dpo', 'POST', '/consents/search', {
      person: { by, value },
      reason: 'for the test',
    });
    expect(answer.status).toBe(200);
    return Found.parse(answer.body).data.map(({ id }) => id);
  };
  const exported = async (visitor: string): Promise<string[]> => {
    const answer = await shop.get(`/tool/v1/s2s/consents/export?visitor_id=${visitor}`);
    expect(answer.status).toBe(200);
    return Found.parse(answer.body).data.map(({ id }) => id);
  };
  const reported = async (table: string): Promise<number> => {
    const metrics = await app.service.installation.metrics.text();
    return Number(
      new RegExp(`^consent_ledger_altered_rows_total\\{table="${table}"\\} (\\d+)$`, 'm').exec(metrics)?.[1],
    );
  };
  /** Runs a check while a row differs, and restores the row. */
  async function whileAltered(
    table: string,
    id: string,
    assignment: string,
    check: () => Promise<void>,
  ): Promise<void> {
    const key = table === 'event_log.events' ? 'id' : 'event_id';
    const client = await app.superuser.connect();
    try {
      await client.query(`create temporary table kept as select * from ${table} where ${key} = '${id}'`);
      await client.query(`update ${table} set ${assignment} where ${key} = '${id}'`);
      await check();
    } finally {
      await client.query(`delete from ${table} where ${key} = '${id}'`);
      await client.query(`insert into ${table} select * from kept on conflict do nothing`);
      await client.query('drop table kept');
      client.release();
    }
  }

  it('is never shown as the records of another person, in no list, and is reported', async () => {
    const as = (column: string) => `${column} = (select ${column} from record_keys where event_id = '${ofAda.id}')`;
    await whileAltered('record_keys', ofBob.id, `${as('visitor_index')}, ${as('email_index')}`, async () => {
      const before = await reported('record_keys');
      expect(await status(ada.visitor_id)).toEqual([second.id, ofAda.id]);
      expect(await search('visitor_id', ada.visitor_id)).toEqual([second.id, ofAda.id]);
      expect(await search('signer_email', ada.signer_email)).toEqual([second.id, ofAda.id]);
      expect(await exported(ada.visitor_id)).toEqual([ofAda.id, second.id]);
      expect(await reported('record_keys')).toBeGreaterThanOrEqual(before + 4);
      const lines = app
        .log()
        .split('\n')
        .filter((line) => line.includes('ROW_ALTERED'));
      expect(lines.filter((line) => line.includes(ofBob.id))).toHaveLength(1);
      expect(lines[0]).toContain('record_keys');
      const disclosed = await shop.inSite('dpo', 'POST', `/consents/${ofBob.id}/disclose`, {
        fields: 'all',
        reason: 'for the test',
      });
      expect(disclosed.status).toBe(500);
      expect(JSON.stringify(disclosed.body)).not.toContain('Lovelace');
      const everything = await shop.get('/tool/v1/s2s/consents/export');
      expect(Found.parse(everything.body).data.map(({ id }) => id)).toEqual([ofAda.id, second.id]);
    });
    expect(await status(bob.visitor_id)).toEqual([ofBob.id]);
  });

  it('is noticed in any column, and the other records of the person are shown', async () => {
    const { rows } = await app.superuser.query(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
        where attrelid = 'record_keys'::regclass and attnum > 0 and not attisdropped`,
    );
    const columns = Columns.parse(rows);
    expect(columns.length).toBeGreaterThan(7);
    for (const { name, type } of columns) {
      const change = CHANGED[type];
      if (change === undefined) throw new Error(`no other value of the type ${type}`);
      await whileAltered('record_keys', second.id, `${name} = ${change(name)}`, async () => {
        expect(await status(ada.visitor_id), name).toEqual([ofAda.id]);
        expect(await search('visitor_id', ada.visitor_id), name).toEqual([ofAda.id]);
      });
    }
    expect(await status(ada.visitor_id)).toEqual([second.id, ofAda.id]);
  });

  it('is not erased with another person', async () => {
    const [eve, mallory] = [person('eve'), person('mallory')];
    const [ofEve, ofMallory] = [await shop.record(eve), await shop.record(mallory)];
    await app.superuser.query(
      `update record_keys set visitor_index = (select visitor_index from record_keys where event_id = $1) where event_id = $2`,
      [ofEve.id, ofMallory.id],
    );
    const answer = await shop.inSite('owner', 'POST', '/erasures', {
      subject: { by: 'visitor_id', value: eve.visitor_id },
    });
    const { id } = ErasureReceiptResponse.parse(answer.body).data;
    const receipt = await shop.until(ErasureReceipt, `/erasures/${id}`, ({ state }) => state === 'finished');
    expect(receipt.erased_records).toBe(1);
    const left = await app.superuser.query('select event_id from record_keys where event_id = any($1)', [
      [ofEve.id, ofMallory.id],
    ]);
    expect(left.rows).toEqual([{ event_id: ofMallory.id }]);
  });

  const replaced = (from: string, to: string) =>
    `data = convert_to(replace(convert_from(data, 'utf8'), '${from}', '${to}'), 'utf8')`;

  it.each([
    [
      'decision',
      'event_log.events',
      replaced(String.raw`\"decision\":\"accepted\"`, String.raw`\"decision\":\"rejected\"`),
    ],
    ['body', 'event_log.events', `data = 'no JSON'`],
    ['record', 'event_log.events', replaced('"record":"', '"record":" ')],
    ['proof key', 'event_log.events', replaced(String.raw`\"proof_key_id\":\"`, String.raw`\"proof_key_id\":\"x`)],
    ['type', 'event_log.events', `type = 'SubjectErased.v1'`],
  ])('leaves out only the record whose %s differs in %s', async (_, table, assignment) => {
    const before = await reported('read_model.consents');
    await whileAltered(table, second.id, assignment, async () => {
      expect(await status(ada.visitor_id)).toEqual([ofAda.id]);
    });
    expect(await reported('read_model.consents')).toBe(before + 1);
    expect(await status(ada.visitor_id)).toEqual([second.id, ofAda.id]);
  });
});
