import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrate } from '../../../src/platform/database/migrate.js';
import { loadMigrations, type Migration, migrationOf } from '../../../src/platform/database/migrations.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { ensureRoles } from '../../../src/platform/database/rights.js';
import { refuseUnmigrated } from '../../../src/platform/database/schema-version.js';
import { DATABASE_ROLES } from '../../../src/platform/database/session.js';
import { countLocks } from '../../support/count-locks.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';
import { readTableGrants } from '../../support/table-grants.js';

const migrations = loadMigrations();
const steps: Migration[] = [
  step('0002-first', 'CREATE TABLE first (n integer); INSERT INTO first VALUES (1);'),
  step('0003-second', 'ALTER TABLE first ADD COLUMN m integer; SELECT pg_sleep(0.05);', '0002-first'),
];

describe('the first lines of a migration', () => {
  const stating = (beside: string) => migrationOf('0002-b/01', `-- Runs beside: ${beside}\nselect 1;`);

  it('state what may run beside it, and whether it repeats', () => {
    expect(stating('nothing')).toMatchObject({ runsBeside: null, repeats: false });
    expect(stating('0001-a\n-- Repeats until it changes no row')).toMatchObject({
      runsBeside: '0001-a',
      repeats: true,
    });
  });

  it.each(['0002-b', '0003-c', 'everything'])('are refused if they name no earlier schema: %s', (beside) => {
    expect(() => stating(beside)).toThrow('The');
  });

  it('are refused if they state nothing', () => {
    expect(() => migrationOf('0002-b/01', 'select 1;\n-- Runs beside: nothing\n')).toThrow('The first line');
  });
});

describe('migrate', () => {
  const closing: (() => Promise<void>)[] = [];
  let database: TestDatabase;
  let db: pg.Pool;

  beforeEach(async () => {
    database = await createTestDatabase({ migrated: false });
    closing.push(database.drop);
    db = connect(database.url);
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  function connect(url: string): pg.Pool {
    const made = createPool({
      url,
      applicationName: 'migrate test',
      maxConnections: 1,
      statementTimeoutMs: 60_000,
      onIdleError: () => undefined,
    });
    closing.push(() => made.end());
    return made;
  }

  /** Connects as a program of the service, until the returned function is called. */
  async function program(application_name: string): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: database.url, application_name });
    await client.connect();
    closing.push(() => client.end());
    return () => client.end();
  }

  it('applies each step once with several concurrent processes', async () => {
    const url = database.url;
    const done = await Promise.all(Array.from({ length: 20 }, () => migrate(connect(url), steps)));
    expect(done.flat().sort()).toEqual(steps.map((step) => step.id));
    expect((await db.query('SELECT n, m FROM first')).rows).toEqual([{ n: 1, m: null }]);
  });

  it('applies the whole schema, and nothing in a second run', async () => {
    expect(await migrate(db, migrations)).toEqual(migrations.map((step) => step.id));
    expect(await migrate(db, migrations)).toEqual([]);
  });

  it('creates the roles once for all databases of a server that migrate concurrently', async () => {
    const others = await Promise.all(Array.from({ length: 6 }, () => createTestDatabase({ migrated: false })));
    for (const other of others) closing.push(other.drop);
    await db.query(`CREATE ROLE migrator LOGIN CREATEROLE PASSWORD 'm'`);
    closing.push(dropRole('migrator'));
    // The service's own roles already exist on this server.
    const fresh = ['fresh_api', 'fresh_worker', 'fresh_projections'];
    closing.push(...fresh.map(dropRole));
    await Promise.all(others.map((other) => ensureRoles(connect(as(other.url, 'migrator', 'm')), fresh)));
    const { rows } = await db.query(`select count(*)::int as granted from pg_auth_members m
      join pg_roles r on r.oid = m.roleid join pg_roles u on u.oid = m.member
      where r.rolname like 'fresh%' and u.rolname = 'migrator' and pg_has_role('migrator', r.oid, 'SET')`);
    expect(rows[0]?.granted).toBeGreaterThanOrEqual(3);
  });

  it('reports the statements that an administrator must run if the user may not create roles', async () => {
    await db.query(`CREATE ROLE "plain user" LOGIN PASSWORD 'p'`);
    closing.push(dropRole('plain user'));
    await db.query('GRANT CREATE ON SCHEMA public TO "plain user"');
    const plain = connect(as(database.url, 'plain user', 'p'));
    const failure: unknown = await migrate(plain, steps).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'roles_not_permitted' });
    const grants = String(failure).match(/GRANT .*;/g) ?? [];
    expect(grants).toHaveLength(5);
    for (const grant of grants) await db.query(grant);
    expect(await migrate(plain, steps)).toEqual(steps.map((step) => step.id));
    const api = createPool({
      url: as(database.url, 'plain user', 'p'),
      role: 'consent_ledger_api',
      applicationName: 'migrate test',
      maxConnections: 1,
      statementTimeoutMs: 60_000,
      onIdleError: () => undefined,
    });
    expect((await api.query('SELECT current_user AS role')).rows).toEqual([{ role: 'consent_ledger_api' }]);
    await api.end();
  });

  it('gives back the rights and read models that a restore left out, without which no process starts', async () => {
    await migrate(db, migrations);
    const grants = await readTableGrants(db);
    await db.query(`alter schema read_model owner to current_user;
      revoke all on all tables in schema public, event_log from ${DATABASE_ROLES};
      grant execute on function create_projection_schema(text, integer) to public`);
    await expect(refuseUnmigrated(db, migrations)).rejects.toMatchObject({ code: 'rights_missing' });
    expect(await migrate(db, migrations)).toEqual([]);
    await refuseUnmigrated(db, migrations);
    expect(await readTableGrants(db)).toEqual(grants);
    const { rows } = await db.query(
      `select has_function_privilege('consent_ledger_api', 'create_projection_schema(text, integer)', 'execute') as open,
              nspowner::regrole::text as owner from pg_namespace where nspname = 'read_model'`,
    );
    expect(rows).toEqual([{ open: false, owner: 'consent_ledger_projections' }]);
  });

  it('does not keep processes from their start by tables of a later version whose migration failed', async () => {
    await migrate(db, migrations);
    const later = [
      ...migrations,
      step('9998-next/01', 'create table next_one (n integer);', '0001-initial'),
      step('9998-next/02', 'select 1 / 0;', '0001-initial'),
    ];
    await expect(migrate(db, later)).rejects.toMatchObject({
      code: 'migration_failed',
    });
    await refuseUnmigrated(db, migrations);
  });

  it('rolls a failed step back, and continues with it in the next run', async () => {
    const broken = [...steps.slice(0, 1), step('0003-second', 'CREATE TABLE half (); SELECT 1 / 0;')];
    await expect(migrate(db, broken)).rejects.toMatchObject({
      code: 'migration_failed',
      message: expect.stringContaining('0003-second'),
    });
    expect((await db.query(`SELECT to_regclass('half') AS half`)).rows).toEqual([{ half: null }]);
    expect(await migrate(db, steps)).toEqual(['0003-second']);
  });

  it('refuses a database that another version of the program created', async () => {
    await migrate(db, steps);
    await expect(migrate(db, steps.slice(0, 1))).rejects.toMatchObject({ code: 'migration_unknown' });
    const changed = steps.map((step) => (step.id === '0002-first' ? { ...step, sql: `${step.sql} ` } : step));
    await expect(migrate(db, changed)).rejects.toMatchObject({ code: 'migration_changed' });
  });

  it('applies nothing while a program is connected that must not run beside a step', async () => {
    await migrate(db, steps.slice(0, 1));
    const told: string[] = [];
    const options = { onStep: ({ id }: Migration) => told.push(id), onRows: () => undefined };
    const third = (beside: string | null) => [...steps, step('0004-third', 'CREATE TABLE third ();', beside)];
    await program('consent-ledger api (schema 0002)');
    await expect(migrate(db, third('0003-second'), options)).rejects.toMatchObject({
      code: 'migration_needs_stop',
      message: expect.stringMatching(
        /connected, and must not run beside 0004-third: consent-ledger api \(schema 0002\) from [\d.]+, 1 connection\. Nothing was applied\./,
      ),
    });
    expect(told).toEqual([]);
    // Programs of the first schema did not state it. A process that migrates is none of them.
    const stop = await program('consent-ledger worker');
    await program('consent-ledger migrate');
    await expect(migrate(db, third('0002-first'), options)).rejects.toThrow(
      /^These [^:]+0003-second, 0004-third: consent-ledger worker from/,
    );
    await stop();
    expect(await migrate(db, third('0002-first'), options)).toEqual(['0003-second', '0004-third']);
    expect(told).toEqual(['0003-second', '0004-third']);
  });

  it('does not apply a step if a program that must not run beside it has started since the first one', async () => {
    let late: Promise<() => Promise<void>> | undefined;
    const onStep = ({ id }: Migration): void => {
      if (id === '0002-first') late = program('consent-ledger api');
    };
    const untilConnected = `DO $$ BEGIN
      WHILE NOT EXISTS (SELECT FROM pg_stat_activity
                         WHERE datname = current_database() AND application_name = 'consent-ledger api')
      LOOP PERFORM pg_sleep(0.02), pg_stat_clear_snapshot(); END LOOP; END $$`;
    const slow = [step('0002-first', untilConnected, '0001-initial'), step('0003-second', 'SELECT 1')];
    await expect(migrate(db, slow, { onStep, onRows: () => undefined })).rejects.toMatchObject({
      code: 'migration_needs_stop',
      message: expect.stringContaining('The steps before are applied. Stop them'),
    });
    await (await late)?.();
    expect(await migrate(db, slow)).toEqual(['0003-second']);
  });

  it('keeps older programs from their start by a step that they must not run with, and by no other', async () => {
    await migrate(db, migrations);
    const newest = migrations.at(-1)?.id.split('/')[0] ?? '';
    const expanding = [...migrations, step('9998-next/01', 'CREATE TABLE next_one ();', newest)];
    await migrate(db, expanding);
    await refuseUnmigrated(db, migrations);
    await migrate(db, [...expanding, step('9999-later/01', 'DROP TABLE next_one;', '9998-next')]);
    await expect(refuseUnmigrated(db, migrations)).rejects.toMatchObject({
      code: 'migration_unknown',
      message: expect.stringContaining('must not run with 9999-later/01'),
    });
    await refuseUnmigrated(db, expanding);
  });

  it('repeats a step until it changes no row, and goes on where a run was killed', async () => {
    await db.query('CREATE TABLE many AS SELECT n, null::int AS twice FROM generate_series(1, 10) n');
    const sql = `WITH rest AS (SELECT n FROM many WHERE twice IS NULL ORDER BY n LIMIT 3)
      UPDATE many SET twice = many.n * 2 FROM rest WHERE rest.n = many.n`;
    const filling = [{ ...step('0002-fill', sql), repeats: true }];
    const told: number[] = [];
    const killed = connect(database.url);
    const onRows = (_: Migration, rows: number): void => {
      told.push(rows);
      if (rows === 6) throw new Error('killed');
    };
    await expect(migrate(killed, filling, { onStep: () => undefined, onRows })).rejects.toThrow('killed');
    expect((await db.query('SELECT count(twice)::int AS n FROM many')).rows).toEqual([{ n: 6 }]);
    expect(await migrate(db, filling, { onStep: () => undefined, onRows: (_, rows) => told.push(rows) })).toEqual([
      '0002-fill',
    ]);
    expect(told).toEqual([3, 6, 3, 4]);
    expect(await migrate(db, filling)).toEqual([]);
    const endless = [{ ...step('0003-two', 'SELECT 1; SELECT 2'), repeats: true }];
    await expect(migrate(db, [...filling, ...endless])).rejects.toThrow('is not one statement that changes rows');
  });

  it('lets the statements of running processes pass while a step waits for the lock of a long transaction', async () => {
    await migrate(db, steps.slice(0, 1));
    const audit = await connect(database.url).connect();
    await audit.query('BEGIN; SELECT n FROM first');
    const migrated = migrate(db, steps);
    const running = connect(database.url);
    await expect.poll(() => countLocks(running, "relation = 'first'::regclass and not granted")).toBe(1);
    // The statement waits until the step, which needs an exclusive lock, gives up.
    expect((await running.query('SELECT n FROM first')).rows).toEqual([{ n: 1 }]);
    await audit.query('COMMIT');
    audit.release();
    expect(await migrated).toEqual(['0003-second']);
  });

  function dropRole(name: string): () => Promise<void> {
    return async () => {
      const cleaner = createPool({
        url: database.url,
        applicationName: 'migrate test',
        maxConnections: 1,
        statementTimeoutMs: 60_000,
        onIdleError: () => undefined,
      });
      await cleaner.query(`DROP OWNED BY "${name}" CASCADE`).catch(() => undefined);
      await cleaner.query(`DROP ROLE IF EXISTS "${name}"`).catch(() => undefined);
      await cleaner.end();
    };
  }
});

function step(id: string, sql: string, runsBeside: string | null = null): Migration {
  return { id, sql, runsBeside, repeats: false };
}

function as(url: string, user: string, password: string): string {
  const changed = new URL(url);
  changed.username = encodeURIComponent(user);
  changed.password = password;
  return changed.href;
}
