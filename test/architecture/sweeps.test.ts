import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SWEEPS, sampled, sweepsTouchedBy } from '../support/sweeps.js';

/** Each use of a sweep, with the file that has it. */
function uses(): readonly { readonly sweep: string; readonly file: string }[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => join('test', name))
    .filter((file) => file !== 'test/architecture/sweeps.test.ts')
    .flatMap((file) =>
      [
        ...new Set(
          [...readFileSync(file, 'utf8').matchAll(/(?:sampled|isTried|caseOf)\(\s*'([^']+)'/g)].map(
            ([, sweep = '']) => sweep,
          ),
        ),
      ].map((sweep) => ({ sweep, file })),
    );
}

test('every sweep is sampled in one place, which npm run test:exhaustive runs in full', () => {
  const listed = Object.entries(SWEEPS).map(([sweep, { file }]) => ({ sweep, file }));
  const key = ({ sweep, file }: { readonly sweep: string; readonly file: string }) => `${sweep} in ${file}`;
  expect(uses().map(key).toSorted()).toEqual(listed.map(key).toSorted());
});

test('a sample is the same for the same seed, differs with the seed, has about its share, and is never empty', () => {
  const cases = Array.from({ length: 4_000 }, (_, index) => index);
  const [lane, seed, inFull] = [process.env.TEST_LANE, process.env.TEST_SEED, process.env.SWEEPS_IN_FULL];
  try {
    delete process.env.TEST_LANE;
    delete process.env.SWEEPS_IN_FULL;
    process.env.TEST_SEED = 'one';
    const one = sampled('deleted rows', cases);
    expect(sampled('deleted rows', cases)).toEqual(one);
    expect(one.length).toBeGreaterThan(cases.length * SWEEPS['deleted rows'].share * 0.8);
    expect(one.length).toBeLessThan(cases.length * SWEEPS['deleted rows'].share * 1.2);
    expect(sampled('deleted rows', cases.slice(0, 1))).toEqual([0]);
    process.env.TEST_SEED = 'another';
    expect(sampled('deleted rows', cases)).not.toEqual(one);
    process.env.SWEEPS_IN_FULL = 'duplicated rows';
    expect(sampled('deleted rows', cases).length).toBeGreaterThan((cases.length / 7) * 0.8);
    expect(sampled('duplicated rows', cases)).toEqual(cases);
    process.env.TEST_LANE = 'exhaustive';
    expect(sampled('deleted rows', cases)).toEqual(cases);
  } finally {
    process.env.TEST_SEED = seed;
    if (inFull === undefined) delete process.env.SWEEPS_IN_FULL;
    else process.env.SWEEPS_IN_FULL = inFull;
    if (lane === undefined) delete process.env.TEST_LANE;
    else process.env.TEST_LANE = lane;
  }
});

test('a changed file lets CI try the sweeps of its folder in full', () => {
  expect(sweepsTouchedBy(['sdk/mobile/src/index.ts', 'docs/sdk.md'])).toEqual([
    'the same sequences with each SDK',
    'devices that lose requests and end apps',
  ]);
});

test('the subject of each sweep is there', () => {
  const missing = Object.values(SWEEPS).flatMap(({ subject }) => subject.filter((folder) => !existsSync(folder)));
  expect(missing).toEqual([]);
});
