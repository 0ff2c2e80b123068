import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ErasureListResponse, ExportedConsent, ExportedErasure, PERSONAL_FIELDS } from '../../../schemas/api/export.js';
import { ask, type RunningApp, startApp } from '../server/running-app.js';
import { Backend, ERASURES } from './export-fixture.js';

const Line = z.union([z.strictObject(ExportedErasure.shape), z.strictObject(ExportedConsent.shape)]);
type Record_ = z.infer<typeof ExportedConsent>;

/** A data warehouse that keeps a copy of all records of a site, as its team would write it. */
class Warehouse {
  readonly rows = new Map<string, Partial<Record_>>();
  readonly tombstones: string[] = [];
  #cursor: string | null = null;

  constructor(private readonly backend: Backend) {}

  /** Reads what is new since the last time, records and erasures alike. */
  async follow(more = ''): Promise<void> {
    const since = this.#cursor === null ? '' : `&cursor=${this.#cursor}`;
    const answer = await this.backend.export(`?format=ndjson&include_erasures=true${since}${more}`);
    expect(answer.status).toBe(200);
    for (const text of (await answer.text()).split('\n').slice(0, -1)) {
      const line = Line.parse(JSON.parse(text));
      if ('erased_record' in line) this.#erase(line.erased_record.id);
      else this.rows.set(line.id, line);
      this.#cursor = line.cursor;
    }
  }

  #erase(id: string): void {
    this.tombstones.push(id);
    const row = this.rows.get(id);
    if (row !== undefined)
      this.rows.set(id, Object.fromEntries(Object.entries(row).filter(([name]) => !PERSONAL_FIELDS.includes(name))));
  }

  get text(): string {
    return JSON.stringify([...this.rows.values()]);
  }
}

describe('a warehouse that follows the export', () => {
  let app: RunningApp;
  let shop: Backend;
  beforeAll(async () => {
    app = await startApp('serve', { ERASURE_ANNOUNCE_INTERVAL_SECONDS: '1' });
    shop = await Backend.of(app);
  });
  afterAll(() => app.stop());

  const rowsOf = (table: 'consents' | 'erasures', backend: Backend, count: number): Promise<void> =>
    expect
      .poll(
        async () =>
          (await app.superuser.query(`select from read_model.${table} where site_id = $1`, [backend.demo.site.id]))
            .rowCount,
      )
      .toBe(count);

  const list = async (query = '') =>
    z
      .strictObject(ErasureListResponse.shape)
      .parse(
        (await ask(`${app.url}${ERASURES}${query}`, { headers: { 'x-api-key': shop.demo.keys.read, ...shop.bearer } }))
          .body,
      );

  it('keeps nothing of an erased person, and loses nothing of others', async () => {
    const warehouse = new Warehouse(shop);
    for (const visitor_id of ['ada of the warehouse', 'bob of the warehouse', 'ada of the warehouse'])
      await shop.record({ visitor_id });
    await rowsOf('consents', shop, 3);
    await warehouse.follow('&limit=2');
    await warehouse.follow();
    expect([warehouse.rows.size, warehouse.tombstones.length]).toEqual([3, 0]);
    expect(warehouse.text).toContain('ada of the warehouse');

    await shop.erase('ada of the warehouse');
    await shop.record({ visitor_id: 'cem of the warehouse' });
    await rowsOf('erasures', shop, 2);
    await rowsOf('consents', shop, 4);
    // A page at a time: the order is that of the log, and no line comes twice.
    for (let i = 0; i < 5; i++) await warehouse.follow('&limit=1');
    expect(warehouse.rows.size).toBe(4);
    expect(new Set(warehouse.tombstones).size).toBe(2);
    expect(warehouse.tombstones).toHaveLength(2);
    expect(warehouse.text).not.toContain('ada of the warehouse');
    for (const visitor of ['bob', 'cem']) expect(warehouse.text).toContain(`${visitor} of the warehouse`);

    // The list alone names the same records, in the same order.
    const first = await list('?limit=1');
    expect(first.next_cursor).toBe(first.data[0]?.cursor);
    const second = await list(`?cursor=${first.next_cursor}`);
    expect(second.next_cursor).toBeNull();
    const named = [...first.data, ...second.data].map(({ erased_record: { id } }) => id);
    expect(named).toEqual(warehouse.tombstones);
    expect((await list(`?cursor=${second.data[0]?.cursor}`)).data).toEqual([]);
  });

  it('has no lines of erasures without asking for them', async () => {
    const { data } = await shop.page();
    expect(data.filter((one) => one.is_anonymized)).toHaveLength(2);
  });

  it('names no erasure of another site', async () => {
    const other = await Backend.of(app);
    const answer = await other.export('?format=ndjson&include_erasures=true');
    expect(await answer.text()).toBe('');
  });

  it.each(['limit=0', 'limit=1001', 'cursor=nonsense', 'page=2'])('refuses %s in the list', async (query) => {
    const url = `${app.url}${ERASURES}?${query}`;
    const answer = await ask(url, { headers: { 'x-api-key': shop.demo.keys.read, ...shop.bearer } });
    expect(answer.status).toBe(422);
  });
});
