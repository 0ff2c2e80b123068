import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareTables, type RowDifference } from '../../../src/platform/database/compare-tables.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';

let database: TestDatabase;
let db: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool({
    url: database.url,
    applicationName: 'compared tables test',
    maxConnections: 2,
    statementTimeoutMs: 60_000,
    onIdleError: () => undefined,
  });
  await db.query(`create table live (a integer, b uuid, "a ""name""" text, content jsonb, primary key (a, b));
    create table expected (like live including all)`);
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

const ID = '00000000-0000-4000-8000-000000000000';
const TABLES = { live: 'live', expected: 'expected', key: ['a', 'b'], columns: ['a "name"', 'content'] };

/** Fills both tables with the same rows, before `alteration`. */
async function fill(rows: number, alteration: string): Promise<void> {
  for (const table of ['live', 'expected'])
    await db.query(`truncate ${table}; insert into ${table}
      select n, '${ID}', case when n % 2 = 0 then 'text' end, jsonb_build_object('n', n) from generate_series(1, ${rows}) n`);
  await db.query(alteration);
}

async function compared(tables: Parameters<typeof compareTables>[1] = TABLES, ahead = false) {
  const differences: RowDifference[] = [];
  const sizes: number[] = [];
  for await (const range of compareTables(db, tables, { ahead })) {
    differences.push(...range.differences);
    sizes.push(range.rows);
  }
  return { differences, sizes, rows: sizes.reduce((sum, size) => sum + size, 0) };
}

test.each([false, true])('finds nothing in equal tables of several ranges (ahead: %s)', async (ahead) => {
  await fill(4_500, 'select');
  expect(await compared(TABLES, ahead)).toEqual({ differences: [], sizes: [2_000, 2_000, 500], rows: 4_500 });
});

test('finds nothing in empty tables', async () => {
  await fill(0, 'select');
  expect(await compared()).toEqual({ differences: [], sizes: [0], rows: 0 });
});

test('names a row by its key, and the columns that differ', async () => {
  await fill(
    4_500,
    `delete from live where a = 3; delete from expected where a = 4; update live set "a ""name""" = null where a = 4000;
     update live set content = '{}', "a ""name""" = '' where a = 4001`,
  );
  expect((await compared()).differences).toEqual([
    { key: ['3', ID], kind: 'missing', columns: [] },
    { key: ['4', ID], kind: 'extra', columns: [] },
    { key: ['4000', ID], kind: 'changed', columns: ['a "name"'] },
    { key: ['4001', ID], kind: 'changed', columns: ['a "name"', 'content'] },
  ]);
});

test('tells values apart that are equal, and stored as other bytes', async () => {
  await fill(3, `update live set content = '{"n": 2.0}' where a = 2`);
  expect((await compared()).differences).toEqual([{ key: ['2', ID], kind: 'changed', columns: ['content'] }]);
});

test.each(['a between 100 and 9000', 'a > 5', 'true'])(
  'reads few rows at a time where the live table lacks many (%s)',
  async (lacking) => {
    await fill(10_000, `delete from live where ${lacking}`);
    const { differences, sizes, rows } = await compared();
    expect(rows).toBe(10_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4_000);
    expect(new Set(differences.map(({ kind }) => kind))).toEqual(new Set(['missing']));
  },
);

test('compares a live column of another type by its values', async () => {
  await fill(10, 'select');
  const live = '(select a::bigint as a, b, "a ""name""", content from live)';
  expect((await compared({ ...TABLES, live })).differences).toEqual([]);
});

test('passes over a live row under a condition, and over none that is missing', async () => {
  await fill(10, 'update live set content = null where a in (3, 4); delete from live where a = 5');
  expect((await compared({ ...TABLES, unless: 'live$.a = 3' })).differences).toEqual([
    { key: ['4', ID], kind: 'changed', columns: ['content'] },
    { key: ['5', ID], kind: 'missing', columns: [] },
  ]);
});
