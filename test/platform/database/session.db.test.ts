import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectionOptions } from '../../../src/platform/database/connection.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { refuseDifference } from '../../../src/platform/database/session.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';

describe('a new connection', () => {
  let database: TestDatabase;
  const pools: pg.Pool[] = [];
  const poolWith = (options: Partial<ConnectionOptions>): pg.Pool => {
    const pool = createPool({
      url: database.url,
      applicationName: 'session test',
      maxConnections: 1,
      statementTimeoutMs: 30_000,
      onIdleError: () => undefined,
      ...options,
    });
    pools.push(pool);
    return pool;
  };

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.end()));
  });
  afterAll(() => database.drop());

  it('gives each further step the rows of its statement, in the session that the pool hands out', async () => {
    const seen: unknown[] = [];
    const pool = poolWith({
      role: 'consent_ledger_api',
      sessionSteps: [
        { sql: 'select pg_backend_pid() as pid, current_user as role', accept: (rows) => seen.push(...rows) },
        { sql: `set work_mem = '5MB'` },
        { sql: `select current_setting('work_mem') as work_mem`, accept: (rows) => seen.push(...rows) },
      ],
    });
    const { rows } = await pool.query('select pg_backend_pid() as pid');
    expect(seen).toEqual([{ ...rows[0], role: 'consent_ledger_api' }, { work_mem: '5MB' }]);
    await pool.query('select 1');
    expect(seen).toHaveLength(2);
  });

  it('is closed and refused if a step refuses it, and the next one is prepared anew', async () => {
    let isRefused = true;
    const pool = poolWith({
      sessionSteps: [
        {
          sql: 'select 1',
          accept: () => {
            if (isRefused) throw new Error('not this server');
          },
        },
      ],
    });
    await expect(pool.connect()).rejects.toThrow('not this server');
    await expect(pool.query('select 1')).rejects.toThrow('not this server');
    expect(pool.totalCount).toBe(0);
    isRefused = false;
    await expect(pool.query('select 1 as n')).resolves.toMatchObject({ rows: [{ n: 1 }] });
  });

  it('is refused with the error of a connection that breaks while it is prepared', async () => {
    const pool = poolWith({ sessionSteps: [{ sql: 'select pg_terminate_backend(pg_backend_pid())' }] });
    await expect(pool.connect()).rejects.toMatchObject({ code: '57P01' });
    expect(pool.totalCount).toBe(0);
  });

  it('has the role and the time limits of its part', async () => {
    const pool = poolWith({ role: 'consent_ledger_worker', statementTimeoutMs: 61_500, lockTimeoutMs: 8_000 });
    const { rows } = await pool.query(
      `select current_user as role, current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
              current_setting('idle_in_transaction_session_timeout') as idle`,
    );
    expect(rows).toEqual([{ role: 'consent_ledger_worker', statement: '61500ms', lock: '8s', idle: '1min' }]);
  });

  it('whose setting was not taken over is refused, with the name of the setting', () => {
    const wanted = { role: 'consent_ledger_api', lock_timeout: '8s' };
    const found = (settings: Record<string, string>) => () =>
      refuseDifference(wanted, [{ user: settings.role ?? 'app', settings }]);
    expect(found({ ...wanted })).not.toThrow();
    expect(found({ ...wanted, role: 'none' })).toThrow('role = none, and the service needs consent_ledger_api');
    expect(found({ role: 'consent_ledger_api' })).toThrow('lock_timeout = no value');
  });
});
