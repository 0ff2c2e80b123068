import { afterAll, beforeAll, expect, test } from 'vitest';
import { createYieldToAdmission, pauseAfter } from '../../../src/pipeline/admission/yield-to-admission.js';
import { type Pipeline, startPipeline } from '../relay/pipeline.js';
import { createSiteFixture, type SiteFixture } from './site-fixture.js';

let pipeline: Pipeline;
let site: SiteFixture;
beforeAll(async () => {
  pipeline = await startPipeline();
  site = await createSiteFixture(pipeline.owner);
});
afterAll(() => pipeline.close());

async function admit(consents: number): Promise<void> {
  await pipeline.owner.query(
    `insert into consent_usage (tenant_id, month, used) values ($1, date_trunc('month', now() at time zone 'UTC'), $2)
     on conflict (tenant_id, month) do update set used = consent_usage.used + excluded.used`,
    [site.tenantId, consents],
  );
}

/** A clock that the test moves, and the pauses. */
function work() {
  let now = 0;
  const pauses: number[] = [];
  const yieldToAdmission = createYieldToAdmission({
    db: pipeline.worker,
    monotonic: () => now,
    wait: async (ms) => {
      pauses.push(ms);
      now += ms;
    },
  });
  return {
    pauses,
    pieceOf: async (ms: number) => {
      now += ms;
      await yieldToAdmission();
    },
  };
}

test('pauses in proportion to the rate of consents, at most twice the work', () => {
  expect(pauseAfter(100, 0)).toBe(0);
  expect(pauseAfter(100, 250)).toBe(50);
  expect(pauseAfter(100, 500)).toBe(100);
  expect(pauseAfter(100, 50_000)).toBe(200);
});

test('long work pauses while consents arrive, and no longer', async () => {
  const { pauses, pieceOf } = work();
  await admit(10);
  await pieceOf(40);
  // Nothing was seen to arrive: what the month has may be a day old.
  expect(pauses).toEqual([]);
  await admit(480);
  // Less than a second after the last look.
  await pieceOf(960);
  expect(pauses).toEqual([]);
  await pieceOf(40);
  expect(pauses).toEqual([38.4]);
  await pieceOf(10);
  // Too short by itself.
  expect(pauses).toHaveLength(1);
  await pieceOf(15);
  expect(pauses[1]).toBeCloseTo(24);
  await pieceOf(2000);
  await pieceOf(2000);
  expect(pauses).toHaveLength(2);
});

test('pauses for a second at most, and forgets the rate of the work before', async () => {
  const { pauses, pieceOf } = work();
  await pieceOf(1);
  await admit(3000);
  await pieceOf(1000);
  expect(pauses).toEqual([1000]);
  await admit(3000);
  await pieceOf(60_000);
  expect(pauses).toHaveLength(1);
});

test('usage that cannot be read is left to the work itself', async () => {
  const pauses: number[] = [];
  let now = 0;
  const yieldToAdmission = createYieldToAdmission({
    db: pipeline.projections,
    monotonic: () => now,
    wait: async (ms) => void pauses.push(ms),
  });
  await expect(pipeline.projections.query('select from consent_usage')).rejects.toMatchObject({ code: '42501' });
  for (now = 0; now < 5000; now += 1000) await yieldToAdmission();
  expect(pauses).toEqual([]);
});

test('work without consents never pauses, also when a month begins', async () => {
  const { pauses, pieceOf } = work();
  await admit(1000);
  await pieceOf(1000);
  await pipeline.owner.query('delete from consent_usage');
  await pieceOf(1000);
  await pieceOf(1000);
  expect(pauses).toEqual([]);
});
