import { readFileSync, writeFileSync } from 'node:fs';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { createPool } from '../../../src/platform/database/pool.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool({
    url: database.url,
    applicationName: 'test',
    maxConnections: 1,
    statementTimeoutMs: 30_000,
    onIdleError: () => undefined,
  });
}, 60_000);
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const PAGE = 'docs/database-roles.md';
const ROLES = ['consent_ledger_api', 'consent_ledger_worker', 'consent_ledger_projections', 'consent_ledger_admin'];

/** Of each table and role: what it may do to whole rows, and to which columns beyond that. */
const GRANTS_SQL = `
with whole as (
  select c.relname as name, r.rolname as role,
         string_agg(lower(p.privilege), ', ' order by p.place) as granted
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('public', 'event_log')
    cross join unnest($1::text[]) as r (rolname)
    cross join unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) with ordinality as p (privilege, place)
   where c.relkind in ('r', 'p') and not c.relispartition and has_table_privilege(r.rolname, c.oid, p.privilege)
   group by 1, 2
), columns as (
  select c.relname as name, r.rolname as role,
         string_agg(lower(p.privilege) || ' (' || a.columns || ')', ', ' order by p.privilege) as granted
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('public', 'event_log')
    cross join unnest($1::text[]) as r (rolname)
    cross join unnest(array['SELECT', 'INSERT', 'UPDATE']) as p (privilege)
    cross join lateral (
      select string_agg(attname, ', ' order by attname) as columns from pg_attribute
       where attrelid = c.oid and attnum > 0 and not attisdropped and has_column_privilege(r.rolname, c.oid, attname, p.privilege)
    ) a
   where c.relkind in ('r', 'p') and not c.relispartition and a.columns is not null
     and not has_table_privilege(r.rolname, c.oid, p.privilege)
   group by 1, 2
)
select name, role, concat_ws(', ', w.granted, c.granted) as granted
  from whole w full join columns c using (name, role) order by name, role`;

const Grants = z.array(z.object({ name: z.string(), role: z.string(), granted: z.string() }));

it('gives each role what docs/database-roles.md says, and nothing else (UPDATE_DOCS=1 writes it)', async () => {
  const grants = Grants.parse((await pool.query(GRANTS_SQL, [ROLES])).rows);
  const names = [...new Set(grants.map(({ name }) => name))];
  const cell = (name: string, role: string): string =>
    grants.find((grant) => grant.name === name && grant.role === role)?.granted ?? '';
  const table = [
    `| Table | ${ROLES.map((role) => role.replace('consent_ledger_', '')).join(' | ')} |`,
    `|---|${ROLES.map(() => '---|').join('')}`,
    ...names.map((name) => `| \`${name}\` | ${ROLES.map((role) => cell(name, role)).join(' | ')} |`),
  ].join('\n');
  const page = readFileSync(PAGE, 'utf8');
  const [before = ''] = page.split(/\| Table \|/);
  const wanted = `${before}${table}\n`;
  if (process.env.UPDATE_DOCS !== undefined) writeFileSync(PAGE, wanted);
  expect(readFileSync(PAGE, 'utf8')).toBe(wanted);
});

it.each(ROLES)('lets %s neither log in, nor make tables, nor change the event log', async (role) => {
  const { rows } = await pool.query(
    `select rolcanlogin, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls,
            has_schema_privilege($1, 'public', 'CREATE') as creates
       from pg_roles where rolname = $1`,
    [role],
  );
  expect(rows).toEqual([
    {
      rolcanlogin: false,
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolbypassrls: false,
      creates: false,
    },
  ]);
});
