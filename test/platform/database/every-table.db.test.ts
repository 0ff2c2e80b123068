import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { createPool } from '../../../src/platform/database/pool.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';

/** What readers see by `\\d+` and `\\df+` in psql. Partitions repeat their table. */
const COMMENTS = `
with ours as (select oid from pg_namespace where nspname in ('public', 'event_log')),
tables as (select * from pg_class where relkind in ('r', 'p') and not relispartition and relnamespace in (select oid from ours))
select relname as name, obj_description(oid, 'pg_class') as comment from tables
union all
select c.relname || '.' || a.attname, col_description(c.oid, a.attnum) from tables c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
union all
select t.typname, obj_description(t.oid, 'pg_type') from pg_type t left join pg_class c on c.oid = t.typrelid
 where (t.typtype = 'e' or c.relkind = 'c') and t.typnamespace in (select oid from ours)
union all
select proname, obj_description(oid, 'pg_proc') from pg_proc where pronamespace in (select oid from ours)`;

let database: TestDatabase;
let db: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool({
    url: database.url,
    applicationName: 'test',
    maxConnections: 1,
    statementTimeoutMs: 30_000,
    onIdleError: () => undefined,
  });
});
afterAll(async () => {
  await db?.end();
  await database?.drop();
});

it('describes every table, column, type and function in a comment of whole sentences', async () => {
  const comments = z
    .array(z.object({ name: z.string(), comment: z.string().nullable() }))
    .parse((await db.query(COMMENTS)).rows);
  expect(comments.length).toBeGreaterThan(400);
  expect(comments.filter(({ comment }) => !/^\S.*\.$/.test(comment ?? ''))).toEqual([]);
});

it('has a replica identity for every table, without which copies of tables lose changes', async () => {
  const { rows } = await db.query(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema') and c.relreplident <> 'f'
       and not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)`,
  );
  expect(rows.map(({ name }) => name)).toEqual([]);
});
