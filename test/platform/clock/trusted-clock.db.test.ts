import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCheckedClock } from '../../../src/pipeline/admission/watches.js';
import { ClockNotTrusted, clockDifference, createTrustedClock } from '../../../src/platform/clock.js';
import { RequestRefused } from '../../../src/platform/errors.js';
import { type Pipeline, silent, startPipeline } from '../../pipeline/relay/pipeline.js';
import { until } from '../../support/wait.js';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await startPipeline();
});
afterAll(() => pipeline.close());

test('measures the clock difference with its sign and without the duration of the query', async () => {
  expect(await clockDifference(pipeline.worker, Date.now)).toBe(0);
  expect(await clockDifference(pipeline.worker, () => Date.now() + 90_000)).toBeGreaterThan(80_000);
  expect(await clockDifference(pipeline.worker, () => Date.now() - 90_000)).toBeLessThan(-80_000);
});

test('refuses to seal by a clock that differs from the database’s', async () => {
  let ahead = 0;
  const clock = createTrustedClock({ db: pipeline.worker, logger: silent, now: () => Date.now() + ahead });
  expect(Math.abs((await clock()).getTime() - Date.now())).toBeLessThan(60_000);
  for (ahead of [400 * 86_400_000, -90_000]) await expect(clock()).rejects.toThrow(ClockNotTrusted);
  ahead = 0;
  await expect(clock()).resolves.toBeInstanceOf(Date);
});

test('refuses to seal after a jump that the database shares, until the hold time has passed', async () => {
  // The monotonic clock jumps back, which is equivalent to a forward jump of all other clocks.
  let slept = 0;
  const monotonic = () => performance.now() - slept;
  const clock = createTrustedClock({ db: pipeline.worker, logger: silent, holdMs: 1_000_000, monotonic });
  await clock();
  slept = 120_000;
  await expect(clock()).rejects.toThrow('jumped');
  slept -= 900_000;
  await expect(clock()).rejects.toThrow('jumped');
  slept -= 101_000;
  await expect(clock()).resolves.toBeInstanceOf(Date);
  await expect(clock()).resolves.toBeInstanceOf(Date);
});

test('refuses admission while the clocks differ', async () => {
  let ahead = 0;
  const told: number[] = [];
  const clock = createCheckedClock({
    db: pipeline.worker,
    everyMs: 0,
    now: () => Date.now() + ahead,
    monotonic: () => performance.now(),
    onDifference: (ms) => told.push(ms),
  });
  const isRefused = () => {
    try {
      clock();
      return false;
    } catch (error) {
      if (error instanceof RequestRefused && error.code === 'ADMISSION_UNAVAILABLE') return true;
      throw error;
    }
  };
  expect(isRefused()).toBe(false);
  ahead = 3_600_000;
  await until(isRefused);
  expect(told.length).toBe(1);
  ahead = 0;
  await until(() => !isRefused());
});
