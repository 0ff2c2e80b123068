import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRetention, openErasureJournal } from '../../src/erasure/index.js';
import { type LedgerWorld, openLedgerWorld } from '../evidence/ledger-world.js';
import { count } from '../relay/pipeline.js';

let world: LedgerWorld;
beforeAll(async () => {
  world = await openLedgerWorld();
});
afterAll(() => world.close());

const DAY_MS = 86_400_000;

/** Lets the part look through the sites once, as of a moment. @returns records erased */
async function lookThrough(now: Date): Promise<unknown> {
  const { pipeline, keyring, folder } = world;
  const journal = openErasureJournal(join(folder, 'journal', 'erasures.ndjson'));
  const options = { pool: pipeline.worker, keyring, journal, logger: pino({ level: 'silent' }), now: () => now };
  const retention = createRetention({ ...options, everyMs: 20 });
  const stop = new AbortController();
  const running = retention.run(stop.signal);
  while (retention.status().looks === 0) await sleep(20);
  stop.abort();
  await running;
  expect(retention.status().failures).toBe(0);
  return retention.status().erased_records;
}

it('erases what is older than the site keeps, and nothing of sites that keep everything', async () => {
  await world.record(world.site, [{ visitorId: 'one' }, { visitorId: 'two' }]);
  const { owner } = world.pipeline;
  const keys = () => count(owner, 'record_keys');
  const before = await keys();
  expect(before).toBeGreaterThanOrEqual(2);
  const inTenDays = new Date(Date.now() + 10 * DAY_MS);

  expect(await lookThrough(inTenDays)).toBe(0);
  await owner.query('update sites set retention_days = 30');
  expect(await lookThrough(inTenDays)).toBe(0);
  expect(await keys()).toBe(before);

  await owner.query('update sites set retention_days = 7');
  expect(await lookThrough(inTenDays)).toBe(before);
  expect(await keys()).toBe(0);
});
