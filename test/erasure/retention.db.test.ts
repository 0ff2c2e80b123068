import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRetention, openErasureJournal } from '../../src/erasure/index.js';
import { createTrustedClock } from '../../src/platform/clock.js';
import { withTransaction } from '../../src/platform/database/pool.js';
import { type LedgerWorld, openLedgerWorld } from '../evidence/package/ledger-world.js';
import { count } from '../pipeline/relay/pipeline.js';
import { until } from '../support/wait.js';

let world: LedgerWorld;
beforeAll(async () => {
  world = await openLedgerWorld();
});
afterAll(() => world.close());

const DAY_MS = 86_400_000;

/** Sets the period of all sites as the service does: the rows are sealed. */
async function setRetention(days: number | null): Promise<void> {
  await withTransaction(world.pipeline.owner, async (db) => {
    await db.query('update sites set retention_days = $1', [days]);
    // As if the transaction had created them: the sites of this test were made by SQL.
    await db.query(
      `select set_config('consent_ledger.changed_rows', string_agg(
         jsonb_build_object('table', 'sites', 'id', id, 'before', null)::text, e'\\n'), true) from sites`,
    );
    await world.keyring.sealing.beforeCommit(db);
  });
}

interface Clocks {
  /** Milliseconds by which this machine's clock is ahead of the database's. */
  readonly ahead?: number;
  readonly monotonic?: () => number;
}

/** The retention part, with clocks that may be wrong. */
function retentionBy({ ahead = 0, monotonic = () => performance.now() }: Clocks) {
  const { pipeline, keyring, folder } = world;
  const journal = openErasureJournal(join(folder, 'journal', 'erasures.ndjson'));
  const logger = pino({ level: 'silent' });
  const clock = createTrustedClock({ db: pipeline.worker, logger, monotonic, now: () => Date.now() + ahead });
  return createRetention({ db: pipeline.worker, keyring, journal, logger, clock, everyMs: 20 });
}

/** Runs the part until a condition holds. */
async function lookThrough(
  retention: ReturnType<typeof retentionBy>,
  isSo: () => boolean = () => Number(retention.status().looks) > 0,
): Promise<ReturnType<typeof retention.status>> {
  const stop = new AbortController();
  const running = retention.run(stop.signal);
  await until(isSo);
  stop.abort();
  await running;
  return retention.status();
}

it('erases records older than the retention period, and none of sites without one', async () => {
  const tenDaysAgo = new Date(Date.now() - 10 * DAY_MS);
  await world.record(world.site, [
    { visitorId: 'one', at: tenDaysAgo },
    { visitorId: 'two', at: tenDaysAgo },
  ]);
  await world.record(world.site, [{ visitorId: 'one' }]);
  const { owner } = world.pipeline;
  const keys = () => count(owner, 'record_keys');
  expect(await keys()).toBe(3);
  await owner.query(
    `insert into test_records (event_id, site_id, created_at, body, proof_hash) values (gen_random_uuid(), $1, $2, '', '')`,
    [world.site.siteId, tenDaysAgo],
  );

  expect(await lookThrough(retentionBy({}))).toMatchObject({ erased_records: 0, failures: 0 });
  await setRetention(30);
  expect(await lookThrough(retentionBy({}))).toMatchObject({ erased_records: 0, failures: 0 });
  expect(await keys()).toBe(3);

  await setRetention(7);
  expect(await lookThrough(retentionBy({}))).toMatchObject({ erased_records: 2, failures: 0 });
  expect(await keys()).toBe(1);
  expect(await count(owner, 'test_records')).toBe(0);
});

it('erases nothing while the clock differs from the database’s', async () => {
  const { owner } = world.pipeline;
  const old = new Date(Date.now() - 40 * DAY_MS);
  await world.record(world.site, [{ visitorId: 'three', at: old }]);
  await setRetention(30);
  const before = await count(owner, 'record_keys');
  for (const ahead of [400 * DAY_MS, 90_000, -90_000, -400 * DAY_MS]) {
    const status = await lookThrough(retentionBy({ ahead }));
    expect(status).toMatchObject({ erased_records: 0 });
    expect(Number(status.failures)).toBeGreaterThan(0);
  }
  expect(await count(owner, 'record_keys')).toBe(before);
  // Within the tolerance between the clocks, the age is the lesser of the two.
  await setRetention(40);
  await world.record(world.site, [{ visitorId: 'four', at: new Date(Date.now() - 40 * DAY_MS + 45_000) }]);
  expect(await lookThrough(retentionBy({ ahead: 55_000 }))).toMatchObject({ erased_records: 1, failures: 0 });
});

it('erases nothing after a clock jump that the database shares', async () => {
  await setRetention(null);
  let slept = 0;
  const retention = retentionBy({ monotonic: () => performance.now() - slept });
  await lookThrough(retention);
  await world.record(world.site, [{ visitorId: 'five', at: new Date(Date.now() - 40 * DAY_MS) }]);
  await setRetention(30);
  slept = 120_000;
  const looks = Number(retention.status().looks);
  const status = await lookThrough(retention, () => Number(retention.status().looks) > looks);
  expect(status).toMatchObject({ erased_records: 0 });
  expect(Number(status.failures)).toBeGreaterThan(0);
});

it('erases nothing of a site whose row was altered by SQL', async () => {
  const { owner } = world.pipeline;
  await setRetention(1_000);
  await world.record(world.site, [{ visitorId: 'six', at: new Date(Date.now() - 40 * DAY_MS) }]);
  const before = await count(owner, 'record_keys');
  await owner.query('update sites set retention_days = 1');
  expect(await lookThrough(retentionBy({}))).toMatchObject({ erased_records: 0, failures: 0 });
  expect(await count(owner, 'record_keys')).toBe(before);
});
