import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { EXPORTED_FIELDS, PARQUET_MEDIA_TYPE } from '../../../schemas/api/export.js';
import { Instant } from '../../../schemas/evidence/primitives.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { type ParquetColumn, parquetFile, parquetType } from '../../../src/api/tool/parquet.js';
import { until } from '../../support/wait.js';
import { type RunningApp, startApp } from '../server/running-app.js';
import { Backend } from './export-fixture.js';

const COLUMNS: readonly ParquetColumn[] = [
  { name: 'text', type: 'text' },
  { name: 'flag', type: 'flag' },
  { name: 'number', type: 'number' },
  { name: 'at', type: 'time' },
];
const WRITER = 'a test version 1';

async function* each(rows: readonly JsonObject[]): AsyncGenerator<JsonObject, void> {
  yield* rows;
}

async function written(rows: readonly JsonObject[]): Promise<{ file: ArrayBuffer; pieces: number }> {
  const pieces: Uint8Array[] = [];
  for await (const piece of parquetFile(COLUMNS, each(rows), WRITER)) pieces.push(piece);
  return { file: new Uint8Array(Buffer.concat(pieces)).buffer, pieces: pieces.length };
}

describe('a Parquet file', () => {
  it('has each value in its type, and null where there is none', async () => {
    const { file } = await written([
      { text: 'ğ "a",\n\0', flag: false, number: -1.5, at: '2026-11-23T07:00:00.123Z', other: 1 },
      { text: { __proto__: null, a: [1, 'b'] }, flag: null, at: null },
      { text: '=1+1', flag: true, number: 2 },
    ]);
    expect(await parquetReadObjects({ file })).toEqual([
      { text: 'ğ "a",\n\0', flag: false, number: -1.5, at: new Date('2026-11-23T07:00:00.123Z') },
      { text: '{"a":[1,"b"]}', flag: null, number: null, at: null },
      { text: '=1+1', flag: true, number: 2, at: null },
    ]);
    expect(parquetMetadata(file).created_by).toBe(WRITER);
  });

  it('has no row group without rows', async () => {
    const { file } = await written([]);
    expect(parquetMetadata(file).row_groups).toEqual([]);
    expect(await parquetReadObjects({ file })).toEqual([]);
    // Thrift's compact protocol: num_rows 0, then a list of no structures. arrow-rs refuses a list without a type.
    const index = Buffer.from(file).toString('hex');
    expect(index).toContain('1600190c');
  });

  it('grows by a row group of a bounded number of rows or characters', async () => {
    const many = Array.from({ length: 4_500 }, (_, place) => ({ text: `row ${place}`, number: place }));
    const { file, pieces } = await written(many);
    expect(pieces).toBe(5);
    expect(parquetMetadata(file).row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([
      1_000, 1_000, 1_000, 1_000, 500,
    ]);
    expect((await parquetReadObjects({ file })).map(({ text, number }) => ({ text, number }))).toEqual(many);
    const large = Array.from({ length: 10 }, () => ({ text: 'x'.repeat(1_500_000) }));
    expect(parquetMetadata((await written(large)).file).row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([
      3, 3, 3, 1,
    ]);
  });

  it('ends at twenty row groups, because its index is encoded at once, and lets others go between them', async () => {
    let turns = 0;
    let isEncoding = true;
    const turn = (): void => {
      turns += 1;
      if (isEncoding) setImmediate(turn);
    };
    setImmediate(turn);
    const { file } = await written(Array.from({ length: 25_000 }, (_, place) => ({ number: place })));
    isEncoding = false;
    const rows = await parquetReadObjects({ file });
    expect([rows.length, rows.at(-1)?.number]).toEqual([20_000, 19_999]);
    expect(turns).toBeGreaterThanOrEqual(19);
  });

  it('refuses a value of another type', async () => {
    await expect(written([{ flag: 'true' }])).rejects.toThrow('a column of type flag cannot hold a string');
    await expect(written([{ number: '1' }])).rejects.toThrow('a column of type number cannot hold a string');
  });

  it.each([
    [Instant.nullable(), 'time'],
    [z.boolean().optional(), 'flag'],
    [z.int().nullable(), 'number'],
    [z.object({ a: z.int().nullish() }).required().shape.a, 'number'],
    [z.literal(2), 'number'],
    [z.literal('2'), 'text'],
    [z.record(z.string(), z.boolean()), 'text'],
  ])('takes the type of a column from the schema', (schema, type) => {
    expect(parquetType(schema)).toBe(type);
  });
});

describe('the record export as Parquet', () => {
  let app: RunningApp;
  let shop: Backend;
  beforeAll(async () => {
    app = await startApp('serve', { ERASURE_ANNOUNCE_INTERVAL_SECONDS: '1' });
    shop = await Backend.of(app);
    for (const visitor_id of ['=1+1', 'Ayşe', 'plain'])
      await shop.record({ visitor_id, otp_verified: true, stroke_count: 3, metadata: { list: [1, '"'] } });
    await until(async () => (await app.superuser.query('select from read_model.consents')).rowCount === 3);
  });
  afterAll(() => app.stop());

  const read = async (query: string, headers: Record<string, string> = {}): Promise<Record<string, unknown>[]> => {
    const answer = await shop.export(query, headers);
    expect(answer.headers.get('content-type')).toBe(PARQUET_MEDIA_TYPE);
    return parquetReadObjects({ file: await answer.arrayBuffer() });
  };

  it('has what NDJSON has: times as times, flags as flags, numbers as numbers', async () => {
    const lines = (await (await shop.export('?format=ndjson')).text()).trimEnd().split('\n');
    const records = z.array(z.record(z.string(), z.unknown())).parse(lines.map((line) => JSON.parse(line)));
    const rows = await read('?limit=20000', { accept: PARQUET_MEDIA_TYPE });
    expect(rows.map((row) => Object.keys(row))).toEqual(records.map(() => EXPORTED_FIELDS));
    for (const [place, record] of records.entries())
      for (const [name, value] of Object.entries(record)) {
        const isTime = ['created_at', 'valid_until', 'ask_again_at'].includes(name) && typeof value === 'string';
        const exact = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
        expect(rows[place]?.[name], name).toEqual(isTime ? new Date(value) : exact);
      }
    expect(rows[0]).toMatchObject({ is_anonymized: false, otp_verified: true, stroke_count: 3, hash_version: 2 });
  });

  it('continues from the cursor of its last row, with the chosen fields alone', async () => {
    const fields = 'format=parquet&fields=decision,visitor_id';
    const [first, ...more] = await read(`?${fields}&limit=1`);
    expect({ first, more }).toEqual({
      first: { decision: 'accepted', visitor_id: '=1+1', cursor: expect.any(String) },
      more: [],
    });
    const rest = await read(`?${fields}&limit=10&cursor=${first?.cursor}`);
    expect(rest.map(({ visitor_id }) => visitor_id)).toEqual(['Ayşe', 'plain']);
  });

  it.each(['', '&limit=20001'])('is refused without a limit that it can keep (%j)', async (query) => {
    const answer = await shop.export(`?format=parquet${query}`);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ code: 'VALIDATION_ERROR', errors: [{ field: 'limit' }] });
  });

  it('has a row for each erasure, with its time', async () => {
    await shop.erase('plain');
    const columns = '?format=parquet&limit=100&include_erasures=true&fields=decision';
    await expect
      .poll(async () => (await read(columns)).at(-1))
      .toEqual({ decision: null, id: expect.any(String), erased_at: expect.any(Date), cursor: expect.any(String) });
  });
});
