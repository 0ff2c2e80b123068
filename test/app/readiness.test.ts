import { expect, test, vi } from 'vitest';
import { createReadiness, type ReadinessOptions } from '../../src/app/readiness.js';
import type { ReadinessReason, ReadinessSource } from '../../src/platform/health.js';

const source = (check: ReadinessSource['check']): ReadinessSource => ({
  name: 'test',
  check,
  ifUnknown: () => 'database_away',
});
const createFrom = (sources: readonly ReadinessSource[], times: Partial<ReadinessOptions> = {}) =>
  createReadiness({ sources, onUnknown: () => undefined, onChange: () => undefined, ...times });

test('names the reasons of all sources, each code once, in the order of the table', async () => {
  const readiness = createFrom([
    source(() => [{ code: 'projections_stopped', names: ['b'] }]),
    source(() => [{ code: 'log_away' }]),
    source(async () => [{ code: 'projections_stopped', names: ['a'] }, { code: 'writes_failing' }]),
  ]);
  expect(await readiness.reasons()).toEqual([
    { code: 'writes_failing' },
    { code: 'log_away' },
    { code: 'projections_stopped', names: ['a', 'b'] },
  ]);
});

test('asks a source once for all callers, and again only when the answer is old', async () => {
  const check = vi.fn(async () => []);
  const many = createFrom([source(check)], { freshMs: 60_000 });
  await Promise.all(Array.from({ length: 100 }, () => many.reasons()));
  await many.reasons();
  expect(check).toHaveBeenCalledTimes(1);
  const fresh = createFrom([source(check)], { freshMs: 0 });
  await fresh.reasons();
  await fresh.reasons();
  expect(check).toHaveBeenCalledTimes(3);
});

test('keeps the previous answer for one that is late, but not for long', async () => {
  let answer: Promise<readonly ReadinessReason[]> = Promise.resolve([]);
  const sources = [source(() => answer)];
  const patient = createFrom(sources, { freshMs: 0, waitMs: 1, staleMs: 60_000 });
  const strict = createFrom(sources, { freshMs: 0, waitMs: 1, staleMs: 0 });
  expect(await patient.reasons()).toEqual([]);
  answer = new Promise(() => undefined);
  expect(await patient.reasons()).toEqual([]);
  expect(await strict.reasons()).toEqual([{ code: 'database_away' }]);
});

test('reports the error of a source when it begins, and each change of the reasons', async () => {
  let isBroken = true;
  const onUnknown = vi.fn();
  const onChange = vi.fn();
  const failing = source(() => {
    if (isBroken) throw new Error('broken');
    return [];
  });
  const readiness = createFrom([failing], { freshMs: 0, onUnknown, onChange });
  expect(await readiness.reasons()).toEqual([{ code: 'database_away' }]);
  await readiness.reasons();
  isBroken = false;
  expect(await readiness.reasons()).toEqual([]);
  expect(onUnknown.mock.calls).toEqual([['test', new Error('broken')]]);
  expect(onChange.mock.calls).toEqual([[[{ code: 'database_away' }]], [[]]]);
});
