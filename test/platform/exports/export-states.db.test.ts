import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXPORT_STATES } from '../../../schemas/api/panel/exports.js';
import { createPool, withTransaction } from '../../../src/platform/database/pool.js';
import {
  cancelForErasure,
  type ExportState,
  enterState,
  expireExports,
  queueExport,
  SHOWN_STATE,
  startExport,
} from '../../../src/platform/export-states.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/wait.js';

let database: TestDatabase;
let db: pg.Pool;
let tenantId: string;
let siteId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool({
    url: database.url,
    applicationName: 'test exports',
    maxConnections: 4,
    statementTimeoutMs: 10_000,
    onIdleError: () => undefined,
  });
  // Rows without a seal are enough: nothing here reads them as the service does.
  [tenantId, siteId] = [randomUUID(), randomUUID()];
  await db.query('alter table exports disable trigger user');
  await db.query(`insert into tenants (id, name) values ($1, 'Shop')`, [tenantId]);
  await db.query(`insert into sites (id, tenant_id, name, domain) values ($1, $2, 'Shop', 'shop.example')`, [
    siteId,
    tenantId,
  ]);
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

/** Inserts an export in a state. The package of a finished one is kept. @returns its id and the claim of its run */
async function exportIn(state: ExportState): Promise<{ readonly id: string; readonly claim: string }> {
  const [id, claim] = [randomUUID(), randomUUID()];
  const hasSeed = ['queued', 'running', 'finished'].includes(state);
  await queueExport(db, { id, siteId, requestedBy: 'a test', seed: randomBytes(16) });
  await db.query(
    `update exports set state = $2, seed = case when $3 then seed end,
            ended_at = case when $2 in ('queued', 'running') then null else now() - interval '1 day' end where id = $1`,
    [id, state, hasSeed],
  );
  await db.query(
    `insert into export_jobs (export_id, tenant_id, site_id, requested_by, channel, filter, by_visitor, disclose, claim)
     values ($1, $2, $3, $4, 'panel', '{}', false, '"none"', $5)`,
    [id, tenantId, siteId, randomUUID(), claim],
  );
  return { id, claim };
}

async function rowOf(id: string): Promise<Record<string, unknown>> {
  const { rows } = await db.query(
    `select e.state, e.reason, e.seed is not null as has_seed, e.ended_at is not null as has_ended, ${SHOWN_STATE} as shown
       from exports e left join export_jobs j on j.export_id = e.id where e.id = $1`,
    [id],
  );
  return rows[0];
}

const ALLOWED: readonly string[] = [
  'queued -> running',
  'queued -> cancelled',
  'running -> running',
  'running -> queued',
  'running -> finished',
  'running -> failed',
  'running -> cancelled',
  'finished -> failed',
  'finished -> cancelled',
  'finished -> expired',
];

describe('the state of an export', () => {
  const pairs = EXPORT_STATES.flatMap((from) => EXPORT_STATES.map((to) => [from, to] as const));

  it.each(pairs)('%s to %s: is entered only where the table allows it', async (from, to) => {
    const { id } = await exportIn(from);
    const before = await rowOf(id);
    const reason = to === 'failed' ? 'error' : null;
    const isEntered = await withTransaction(db, (db) => enterState(db, id, to, { claim: null, reason }));
    expect(isEntered).toBe(ALLOWED.includes(`${from} -> ${to}`));
    const hasEnded = !['queued', 'running'].includes(to);
    const keepsPackage = ['queued', 'running', 'finished'].includes(to);
    const after = { state: to, reason, has_seed: keepsPackage, has_ended: hasEnded, shown: to };
    expect(await rowOf(id)).toEqual(isEntered ? after : before);
  });

  it('is changed by the run that holds the claim, and by no other run', async () => {
    const { id, claim } = await exportIn('running');
    const finish = (by: string) =>
      withTransaction(db, (db) => enterState(db, id, 'finished', { claim: by, reason: null }));
    expect(await finish(randomUUID())).toBe(false);
    expect(await rowOf(id)).toMatchObject({ state: 'running' });
    expect(await finish(claim)).toBe(true);
  });

  it('is not finished by a run whose export another worker takes over at the same time', async () => {
    const { id, claim } = await exportIn('running');
    const takeOver = await db.connect();
    await takeOver.query('begin');
    await enterState(takeOver, id, 'running', { claim: null, reason: null });
    await takeOver.query('update export_jobs set claim = $2 where export_id = $1', [id, randomUUID()]);
    const finishing = withTransaction(db, (db) => enterState(db, id, 'finished', { claim, reason: null }));
    await until(async () => {
      const { rows } = await db.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    await takeOver.query('commit');
    takeOver.release();
    expect(await finishing).toBe(false);
    expect(await rowOf(id)).toMatchObject({ state: 'running' });
  });

  it('is cancelled by an erasure if the service makes or keeps a package, and is left alone otherwise', async () => {
    await db.query('delete from export_jobs; delete from exports');
    const ids = new Map<string, string>();
    for (const state of EXPORT_STATES) ids.set(state, (await exportIn(state)).id);
    ids.set('made at once', await startExport(db, siteId, 'a test'));
    const delivered = await startExport(db, siteId, 'a test');
    await withTransaction(db, (db) => enterState(db, delivered, 'finished', { claim: null, reason: null }));
    ids.set('delivered', delivered);
    expect(await withTransaction(db, (db) => cancelForErasure(db, siteId))).toEqual({ stopped: 2, destroyed: 1 });
    const after: Record<string, unknown> = {};
    for (const [name, id] of ids) {
      const { state, reason, has_seed: hasSeed } = await rowOf(id);
      after[name] = `${state} ${reason} ${hasSeed}`;
    }
    expect(after).toEqual({
      queued: 'cancelled erasure false',
      running: 'cancelled erasure false',
      finished: 'cancelled erasure false',
      cancelled: 'cancelled null false',
      failed: 'failed null false',
      expired: 'expired null false',
      'made at once': 'cancelled erasure false',
      delivered: 'finished null false',
    });
  });

  it('is shown as expired from the end of the retention period, and entered by the sweep', async () => {
    const { id } = await exportIn('finished');
    await db.query(`update export_jobs set expires_at = now() - interval '1 second' where export_id = $1`, [id]);
    expect(await rowOf(id)).toMatchObject({ state: 'finished', shown: 'expired', has_seed: true });
    await expireExports(db);
    expect(await rowOf(id)).toMatchObject({ state: 'expired', shown: 'expired', has_seed: false });
  });
});
