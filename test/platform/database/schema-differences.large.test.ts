import { readFileSync, writeFileSync } from 'node:fs';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../../src/platform/database/migrate.js';
import { loadMigrations } from '../../../src/platform/database/migrations.js';
import { createPool } from '../../../src/platform/database/pool.js';
import {
  compareSchema,
  readObjects,
  SCHEMA_FILE,
  schemaText,
} from '../../../src/platform/database/schema-differences.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';
import { SystemPostgres, systemPostgresPrograms } from '../../support/system-postgres.js';

const connect = (url: string): pg.Pool =>
  createPool({
    url,
    applicationName: 'test',
    maxConnections: 1,
    statementTimeoutMs: 30_000,
    onIdleError: () => undefined,
  });

/** Changes of a schema, and the difference that each is: object, part and a piece of the detail. */
const CHANGES: readonly (readonly [sql: string, object: string, part: string, detail: string])[] = [
  ['drop index one_open_invitation', 'invitations', 'index one_open_invitation', 'is missing: CREATE UNIQUE INDEX'],
  ['alter table sites drop constraint sites_pkey cascade', 'sites', 'constraint sites_pkey', 'is missing: PRIMARY KEY'],
  [
    'drop index one_open_invitation; create index one_open_invitation on invitations (tenant_id, email) where accepted_at is null and revoked_at is null',
    'invitations',
    'index one_open_invitation',
    'is "CREATE INDEX',
  ],
  [
    `update pg_index set indisvalid = false where indexrelid = 'one_open_invitation'::regclass`,
    'invitations',
    'index one_open_invitation',
    ', invalid" and must be',
  ],
  [
    `update pg_index set indisvalid = false where indexrelid = 'users_email_key'::regclass`,
    'users',
    'constraint users_email_key',
    'is "UNIQUE (email), invalid"',
  ],
  ['create index of_operator on sites (name)', 'sites', 'index of_operator', 'was added: CREATE INDEX'],
  ['alter table sites alter name drop not null', 'sites', 'column name', 'is "text" and must be "text not null"'],
  ['alter table persons alter records type integer', 'persons', 'column records', 'is "integer'],
  ['alter table mails alter attempts set default 7', 'mails', 'column attempts', 'default 7'],
  ['alter table record_keys alter seed set statistics 100', 'record_keys', 'column seed', 'without statistics'],
  ['alter table sites add extra text', 'sites', 'column extra', 'was added: text'],
  ['alter table erased_records drop column reason', 'erased_records', 'column reason', 'is missing: text'],
  ['alter table event_log.waiting alter number drop identity', 'event_log.waiting', 'column number', 'as identity'],
  [
    'alter table event_log.runs drop constraint runs_stream_revision',
    'event_log.runs',
    'constraint runs_stream_revision',
    'is missing: UNIQUE (stream, revision)',
  ],
  ['alter table sites disable trigger all', 'sites', 'constraint sites_tenant_id_fkey', ', disabled'],
  ['alter table users disable trigger changes_are_sealed', 'users', 'trigger changes_are_sealed', ', disabled" and'],
  ['drop trigger kept_in_log on event_log.events', 'event_log.events', 'trigger kept_in_log', 'is missing: CREATE'],
  ['create rule lose as on delete to sites do instead nothing', 'sites', 'rule lose', 'was added: CREATE RULE'],
  ['alter table sites enable row level security', 'sites', '', 'is "table, row security" and must be "table"'],
  ['create policy a_few on sites', 'sites', 'policy a_few', 'was added'],
  ['alter table scrubs set unlogged', 'scrubs', '', 'is "table, not logged"'],
  ['alter table nonces detach partition nonces_1', 'nonces_1', '', 'must be "table, partition of nonces FOR VALUES'],
  ['drop table scrubs', 'scrubs', '', 'is missing'],
  ['drop view event_log.waiting_events', 'event_log.waiting_events', '', 'is missing'],
  ['create or replace view leaves as select * from (table leaves limit 0) l', 'leaves', '', 'and must be "view '],
  ['create table event_log.other (n integer)', 'event_log.other', '', 'was added'],
  [
    'create or replace function event_log.refuse_deletion() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$ begin return old; end $$',
    'event_log.refuse_deletion()',
    '',
    'body ',
  ],
  ['alter function event_log.refuse_change() security definer', 'event_log.refuse_change()', '', 'runs as its owner'],
  ['alter function note_changed_row() reset all', 'note_changed_row()', '', 'and must be'],
  [
    `create function used_nonces(text[], smallint) returns text[] language sql as 'select $1'`,
    'used_nonces(text[], smallint)',
    '',
    'was added',
  ],
  ['grant update on users to consent_ledger_api', 'users', 'rights of consent_ledger_api', 'is "select, update"'],
  ['grant select on record_keys to public', 'record_keys', 'rights of PUBLIC', 'was added: select'],
  ['revoke insert on mails from consent_ledger_api', 'mails', 'rights of consent_ledger_api', 'is missing: insert'],
  [
    'grant update (email) on users to consent_ledger_api',
    'users',
    'rights of consent_ledger_api on email',
    'was added',
  ],
  [
    'grant execute on function event_log.first_waiting(uuid[], integer) to public',
    'event_log.first_waiting(in_sites uuid[], in_limit integer)',
    'rights of PUBLIC',
    'was added: execute',
  ],
  ['grant create on schema public to public', 'schema public', 'rights of PUBLIC', 'is "create, usage"'],
  ['grant consent_ledger_admin to consent_ledger_api', 'role consent_ledger_api', '', 'is in consent_ledger_admin'],
  ['alter role consent_ledger_auditor bypassrls', 'role consent_ledger_auditor', '', 'passes row security'],
];

describe('the comparison of the schema', () => {
  let database: TestDatabase;
  let db: pg.Pool;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = connect(database.url);
  });
  afterAll(async () => {
    await db?.end();
    await database?.drop();
  });

  it('compares with what the migrations make (UPDATE_SCHEMA=1 writes the file)', async () => {
    const file = `src/platform/database/migrations/${SCHEMA_FILE}`;
    const text = schemaText(await readObjects(db));
    if (process.env.UPDATE_SCHEMA !== undefined) writeFileSync(file, text);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(await compareSchema(db)).toEqual([]);
  });

  it.each(CHANGES)('finds: %s', async (sql, object, part, detail) => {
    const client = await db.connect();
    try {
      await client.query(`begin; ${sql}`);
      expect(await compareSchema(client)).toContainEqual({ object, part, detail: expect.stringContaining(detail) });
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  it('passes over tables and functions of other programs, and over what an operator tunes', async () => {
    await db.query(`
      create table of_operator (n integer primary key); create view of_operators as table of_operator;
      create function of_operator() returns integer language sql as 'select 1'; create type of_kind as enum ('a');
      alter table sites set (fillfactor = 70); alter table sites alter name set statistics 500;
      create role of_operator; grant select on sites to of_operator`);
    try {
      expect(await compareSchema(db)).toEqual([]);
    } finally {
      await db.query('drop owned by of_operator; drop role of_operator');
    }
  });
});

const bin = systemPostgresPrograms();

it.skipIf(bin === null)(
  titleNeeding('a PostgreSQL of the system', bin !== null, 'finds no difference on another version of PostgreSQL'),
  async () => {
    const server = await SystemPostgres.start(bin ?? '');
    try {
      const db = connect(server.url('postgres'));
      try {
        await migrate(db, loadMigrations());
        expect(await compareSchema(db)).toEqual([]);
      } finally {
        await db.end();
      }
    } finally {
      await server.remove();
    }
  },
);
