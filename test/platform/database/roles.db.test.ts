import { readFileSync, writeFileSync } from 'node:fs';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPool } from '../../../src/platform/database/pool.js';
import { DATABASE_ROLES } from '../../../src/platform/database/session.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';
import { readTableGrants } from '../../support/table-grants.js';

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
  await db.end();
  await database.drop();
});

const PAGE = 'docs/database-roles.md';
it('grants each role exactly the rights in docs/database-roles.md (UPDATE_DOCS=1 writes the page)', async () => {
  const grants = await readTableGrants(db);
  const names = [...new Set(grants.map(({ table }) => table))];
  const cell = (name: string, role: string): string =>
    grants.find((grant) => grant.table === name && grant.role === role)?.granted ?? '';
  const table = [
    `| Table | ${DATABASE_ROLES.map((role) => role.replace('consent_ledger_', '')).join(' | ')} |`,
    `|---|${DATABASE_ROLES.map(() => '---|').join('')}`,
    ...names.map((name) => `| \`${name}\` | ${DATABASE_ROLES.map((role) => cell(name, role)).join(' | ')} |`),
  ].join('\n');
  const page = readFileSync(PAGE, 'utf8');
  const [before = ''] = page.split(/\| Table \|/);
  const wanted = `${before}${table}\n`;
  if (process.env.UPDATE_DOCS !== undefined) writeFileSync(PAGE, wanted);
  expect(readFileSync(PAGE, 'utf8')).toBe(wanted);
});

it.each(DATABASE_ROLES)('lets %s neither log in, nor create tables, nor change the event log', async (role) => {
  const { rows } = await db.query(
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

it('names the schemas of each function that runs as its owner, the temporary one last', async () => {
  const { rows } = await db.query<{ name: string; path: string | null }>(
    `select p.proname as name, (select c from unnest(p.proconfig) as c where c like 'search_path=%') as path
       from pg_proc p where p.prosecdef and p.pronamespace in ('public'::regnamespace, 'event_log'::regnamespace)`,
  );
  expect(rows.length).toBeGreaterThan(3);
  for (const { name, path } of rows) expect(path, name).toMatch(/^search_path=(?:pg_catalog|public), pg_temp$/);
});

it('lets no temporary table hide one from a function that runs as its owner', async () => {
  const client = await db.connect();
  try {
    await client.query('set role consent_ledger_api');
    // The generation of the template may be old by now, so that it ends here.
    await client.query(`select advance_admission_generation('nonces')`);
    await client.query(`create temp table admission_generations as
      select 'nonces'::text as kind, 0::smallint as slot, 'epoch'::timestamptz as began_at`);
    const { rows } = await client.query(`select advance_admission_generation('nonces') as has_begun`);
    expect(rows).toEqual([{ has_begun: false }]);
  } finally {
    client.release(true);
  }
});
