import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGiveWay, restAfter } from '../../../src/pipeline/admission/yield-to-admission.js';
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

/** A clock that the test moves, and the rests. */
function work() {
  let now = 0;
  const rests: number[] = [];
  const giveWay = createGiveWay({
    db: pipeline.worker,
    monotonic: () => now,
    rest: async (ms) => {
      rests.push(ms);
      now += ms;
    },
  });
  return {
    rests,
    pieceOf: async (ms: number) => {
      now += ms;
      await giveWay();
    },
  };
}

test('rests in proportion to the rate of consents, at most twice the work', () => {
  expect(restAfter(100, 0)).toBe(0);
  expect(restAfter(100, 250)).toBe(50);
  expect(restAfter(100, 500)).toBe(100);
  expect(restAfter(100, 50_000)).toBe(200);
});

test('long work rests while consents arrive, and no longer', async () => {
  const { rests, pieceOf } = work();
  await admit(10);
  await pieceOf(40);
  // Nothing was seen to arrive: what the month has may be a day old.
  expect(rests).toEqual([]);
  await admit(480);
  // Less than a second after the last look.
  await pieceOf(960);
  expect(rests).toEqual([]);
  await pieceOf(40);
  expect(rests).toEqual([38.4]);
  await pieceOf(10);
  // Too short by itself.
  expect(rests).toHaveLength(1);
  await pieceOf(15);
  expect(rests[1]).toBeCloseTo(24);
  await pieceOf(2000);
  await pieceOf(2000);
  expect(rests).toHaveLength(2);
});

test('rests for a second at most, and forgets the rate of the work before', async () => {
  const { rests, pieceOf } = work();
  await pieceOf(1);
  await admit(3000);
  await pieceOf(1000);
  expect(rests).toEqual([1000]);
  await admit(3000);
  await pieceOf(60_000);
  expect(rests).toHaveLength(1);
});

test('usage that cannot be read is left to the work itself', async () => {
  const rests: number[] = [];
  let now = 0;
  const giveWay = createGiveWay({
    db: pipeline.projections,
    monotonic: () => now,
    rest: async (ms) => void rests.push(ms),
  });
  await expect(pipeline.projections.query('select from consent_usage')).rejects.toMatchObject({ code: '42501' });
  for (now = 0; now < 5000; now += 1000) await giveWay();
  expect(rests).toEqual([]);
});

test('work without consents never rests, also when a month begins', async () => {
  const { rests, pieceOf } = work();
  await admit(1000);
  await pieceOf(1000);
  await pipeline.owner.query('delete from consent_usage');
  await pieceOf(1000);
  await pieceOf(1000);
  expect(rests).toEqual([]);
});
