import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPool } from '../../../src/platform/database/pool.js';
import { readSchema, type SchemaDescription } from '../../../src/platform/database/schema-page/read-schema.js';
import { schemaPage } from '../../../src/platform/database/schema-page/render-schema.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';

let database: TestDatabase;
let db: pg.Pool;
let schema: SchemaDescription;
beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool({
    url: database.url,
    applicationName: 'test',
    maxConnections: 1,
    statementTimeoutMs: 30_000,
    onIdleError: () => undefined,
  });
  schema = await readSchema(db);
});
afterAll(async () => {
  await db?.end();
  await database?.drop();
});

it('describes every table, column, type and function in a comment', () => {
  const { tables, types, functions } = schema;
  const missing = [
    ...[...tables, ...types, ...functions].filter(({ meaning }) => meaning === null).map(({ name }) => name),
    ...tables.flatMap(({ name, columns }) =>
      columns.filter(({ meaning }) => meaning === null).map((column) => `${name}.${column.name}`),
    ),
  ];
  expect(missing).toEqual([]);
  expect(tables.length).toBeGreaterThan(45);
});

it('writes each comment as sentences', () => {
  const { tables, types, functions } = schema;
  const texts = [...tables, ...types, ...functions, ...tables.flatMap(({ columns }) => columns)].map(
    ({ meaning }) => meaning ?? '',
  );
  expect(texts.filter((text) => !/^\S.*\.$/.test(text))).toEqual([]);
});

it('equals docs/schema.md (npm run docs:schema writes it)', () => {
  expect(readFileSync('docs/schema.md', 'utf8')).toBe(schemaPage(schema));
});
