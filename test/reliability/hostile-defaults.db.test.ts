import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createPool } from '../../src/platform/database/pool.js';
import { STATED_SETTINGS } from '../../src/platform/database/session.js';
import { createUnprivilegedDatabase, type UnprivilegedDatabase } from '../support/unprivileged-database.js';
import { WalkedService } from '../support/walked-service.js';

/** Values of the settings that sessions of the service state themselves. */
const STATED: Readonly<Record<string, string>> = {
  array_nulls: 'off',
  bytea_output: 'escape',
  DateStyle: 'SQL, DMY',
  default_transaction_deferrable: 'on',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  exit_on_error: 'on',
  extra_float_digits: '-15',
  idle_in_transaction_session_timeout: '5ms',
  idle_session_timeout: '10min',
  IntervalStyle: 'sql_standard',
  lock_timeout: '1ms',
  quote_all_identifiers: 'on',
  row_security: 'on',
  search_path: 'pg_catalog',
  standard_conforming_strings: 'off',
  statement_timeout: '20s',
  synchronous_commit: 'off',
  TimeZone: 'Pacific/Kiritimati',
  transaction_timeout: '20s',
  transform_null_equals: 'on',
};

/** Values of settings that sessions leave as they are, because nothing depends on them. */
const LEFT: Readonly<Record<string, string>> = {
  backslash_quote: 'on',
  check_function_bodies: 'off',
  client_min_messages: 'debug1',
  commit_siblings: '0',
  constraint_exclusion: 'on',
  createrole_self_grant: 'set, inherit',
  cursor_tuple_fraction: '1',
  default_statistics_target: '1',
  default_toast_compression: 'pglz',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_indexonlyscan: 'off',
  enable_indexscan: 'off',
  enable_material: 'off',
  enable_memoize: 'off',
  enable_mergejoin: 'off',
  enable_nestloop: 'off',
  enable_partition_pruning: 'off',
  enable_sort: 'off',
  escape_string_warning: 'off',
  from_collapse_limit: '1',
  geqo_threshold: '2',
  gin_fuzzy_search_limit: '1',
  jit: 'off',
  join_collapse_limit: '1',
  lc_monetary: 'C',
  lc_numeric: 'C',
  lc_time: 'C',
  max_parallel_workers_per_gather: '0',
  parallel_leader_participation: 'off',
  plan_cache_mode: 'force_generic_plan',
  random_page_cost: '1000',
  temp_buffers: '800kB',
  timezone_abbreviations: 'India',
  work_mem: '64kB',
  xmloption: 'document',
};

/** Only a superuser can set them, and sessions of the service cannot set them back. */
const DEMANDED: Readonly<Record<string, string>> = {
  session_replication_role: 'replica',
  zero_damaged_pages: 'on',
  ignore_checksum_failure: 'on',
};

const Shown = z.tuple([z.object({ shown: z.record(z.string(), z.string()) })]);

describe('a database whose defaults are hostile', () => {
  let database: UnprivilegedDatabase;
  const setAll = (target: string, settings: Readonly<Record<string, string>>): readonly string[] =>
    Object.entries(settings).map(
      ([name, value]) => `alter ${target} set ${name} = ${name === 'search_path' ? value : `'${value}'`}`,
    );
  const shownTo = async (db: pg.Client | pg.Pool, names: readonly string[]) => {
    const { rows } = await db.query(
      'select json_object_agg(name, current_setting(name)) as shown from unnest($1::text[]) as s (name)',
      [names],
    );
    return Shown.parse(rows)[0].shown;
  };

  beforeAll(async () => {
    database = await createUnprivilegedDatabase();
    await database.sql(
      ...setAll(`database ${database.name}`, LEFT),
      // A default of the user goes before one of the database.
      ...setAll(`role ${database.user} in database ${database.name}`, STATED),
    );
  });
  afterAll(() => database.drop());

  it('gives them to other sessions, but not to those of the service', async () => {
    const names = Object.keys({ ...STATED, ...LEFT });
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    const given = await shownTo(other, names).finally(() => other.end());
    expect(given).toEqual({ ...LEFT, ...STATED });
    const pool = createPool({
      url: database.url,
      applicationName: 'hostile test',
      maxConnections: 1,
      statementTimeoutMs: 30_000,
      onIdleError: () => undefined,
    });
    const times = { statement_timeout: '30s', lock_timeout: '0', transaction_timeout: '0' };
    const shown = await shownTo(pool, Object.keys({ ...STATED, ...STATED_SETTINGS }));
    expect(shown).toEqual({ ...STATED_SETTINGS, ...times, synchronous_commit: 'on' });
    await pool.end();
  });

  it('changes nothing from admission to time stamp, nor in an audit', async () => {
    const service = await WalkedService.at(database.url);
    try {
      await service.start();
      await service.walk();
      expect(await service.command('audit')).toMatchObject({ exitCode: 0 });
    } finally {
      await service.close();
    }
  });

  it.each(Object.entries(DEMANDED))('with %s = %s is refused, and the setting is named', async (name, value) => {
    await database.sql(`alter database ${database.name} set ${name} = ${value}`);
    const service = await WalkedService.at(database.url);
    try {
      await expect(service.start()).rejects.toMatchObject({ code: 'session_differs' });
      const { exitCode, stderr } = await service.command('audit');
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`${name} = ${value}`);
      expect(stderr).toContain(`ALTER DATABASE … RESET ${name}`);
    } finally {
      await database.sql(`alter database ${database.name} reset ${name}`);
      await service.close();
    }
  });

  it('with a role of the service as the user’s own is refused, because only the owner may migrate', async () => {
    await database.sql(`alter role ${database.user} in database ${database.name} set role = consent_ledger_auditor`);
    const service = await WalkedService.at(database.url);
    try {
      await expect(service.start()).rejects.toThrow('role = consent_ledger_auditor');
    } finally {
      await database.sql(`alter role ${database.user} in database ${database.name} reset role`);
      await service.close();
    }
  });
});
