import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPool } from '../../src/platform/database/pool.js';
import { refuseTransactionPooling } from '../../src/platform/database/server-checks.js';
import { titleNeeding } from '../support/missing-tools.js';
import { PgBouncer, pgbouncerPath } from '../support/pgbouncer.js';
import { createUnprivilegedDatabase, type UnprivilegedDatabase } from '../support/unprivileged-database.js';
import { WalkedService } from '../support/walked-service.js';

const isThere = pgbouncerPath !== undefined;
/** As operators set it for clients that send `-c …` or a limit when they connect. */
const IGNORED = { ignore_startup_parameters: 'options,extra_float_digits' };

describe.skipIf(!isThere)(titleNeeding('pgbouncer', isThere, 'PgBouncer in front of the database'), () => {
  let database: UnprivilegedDatabase;
  const closers: (() => Promise<unknown>)[] = [];

  async function pooled(settings: Readonly<Record<string, string | number>>): Promise<string> {
    const pooler = await PgBouncer.start(database.url, settings);
    closers.push(() => pooler.stop());
    return pooler.url;
  }

  async function serviceAt(url: string): Promise<WalkedService> {
    const service = await WalkedService.at(url);
    closers.push(() => service.close());
    return service;
  }

  function poolAt(url: string): pg.Pool {
    const pool = createPool({
      url,
      applicationName: 'pooler test',
      maxConnections: 2,
      statementTimeoutMs: 30_000,
      onIdleError: () => undefined,
    });
    closers.push(() => pool.end());
    return pool;
  }

  beforeAll(async () => {
    database = await createUnprivilegedDatabase();
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  afterAll(() => database.drop());

  it('in session mode leaves each part its rights and limits, from admission to time stamp', async () => {
    const service = await serviceAt(await pooled({ pool_mode: 'session', default_pool_size: 60, ...IGNORED }));
    const { installation } = await service.start();
    const { apiPool, workerPool, projectionsPool, adminPool } = installation;
    for (const [pool, role] of [
      [apiPool, 'consent_ledger_api'],
      [workerPool, 'consent_ledger_worker'],
      [projectionsPool, 'consent_ledger_projections'],
      [adminPool, 'consent_ledger_admin'],
    ] as const) {
      const { rows } = await pool.query(
        `select current_user as role, current_setting('statement_timeout') as statement,
                current_setting('idle_in_transaction_session_timeout') as idle`,
      );
      expect(rows).toEqual([{ role, statement: '30s', idle: '1min' }]);
    }
    await expect(apiPool.query('delete from event_log.events')).rejects.toMatchObject({ code: '42501' });
    await service.walk();
    for (const command of [['audit'], ['projections', 'status'], ['admin', 'tenant', 'list']]) {
      const { exitCode, stderr } = await service.command(...command);
      expect({ command, exitCode, stderr }).toMatchObject({ exitCode: 0 });
    }
  });

  it.each(['transaction', 'statement'])('in %s mode is refused by the service and by its commands', async (mode) => {
    const service = await serviceAt(await pooled({ pool_mode: mode, ...IGNORED }));
    await expect(service.start()).rejects.toMatchObject({ name: 'DatabaseSetupError', code: 'transaction_pooling' });
    for (const command of [['migrate'], ['audit'], ['admin', 'tenant', 'list']]) {
      const { exitCode, stderr } = await service.command(...command);
      expect({ command, exitCode, stderr }).toMatchObject({ exitCode: 1 });
      expect(stderr).toContain('pool_mode = session');
    }
  });

  it.each([
    ['lends one session', { default_pool_size: 1 }],
    ['lends the session that was used last', { default_pool_size: 8 }],
    ['lends its sessions in turn', { default_pool_size: 8, server_round_robin: 1 }],
  ])('in transaction mode is recognised while it %s, among other clients', async (_, settings) => {
    const url = await pooled({ pool_mode: 'transaction', ...settings });
    const pool = poolAt(url);
    await expect(refuseTransactionPooling(pool)).rejects.toThrow('transaction or statement mode');
    const others = Array.from({ length: 6 }, () => new pg.Client({ connectionString: url }));
    let isBusy = true;
    const load = others.map(async (client) => {
      await client.connect();
      while (isBusy) await client.query('select pg_sleep(0.001)');
      await client.end();
    });
    try {
      for (let n = 0; n < 5; n += 1)
        await expect(refuseTransactionPooling(pool)).rejects.toThrow('transaction or statement mode');
    } finally {
      isBusy = false;
      await Promise.all(load);
    }
  });

  it('in session mode is accepted while its sessions are few, and used by others in turn', async () => {
    const url = await pooled({ pool_mode: 'session', default_pool_size: 3, server_round_robin: 1 });
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await other.query('select 1');
    await expect(refuseTransactionPooling(poolAt(url))).resolves.toBeUndefined();
    await other.end();
  });
});
