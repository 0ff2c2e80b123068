import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import * as z from 'zod';
import { seedOfRun } from './test/support/seed-of-run.js';
import { INSTALLING, isExhaustive, SWEEPS, sweepsTouchedBy } from './test/support/sweeps.js';
import { temporaryFolder } from './test/support/temporary-folder.js';
import { LongestFirst } from './test/support/test-order.js';
import { LANES, sizeOf, testFiles } from './test/support/test-sizes.js';
import { PATIENCE_MS } from './test/support/wait.js';

const Ratchet = z.object({ commit: z.string() });
// Files and folders that are named on the command line run whatever their size is.
const isNamed = process.argv.some((argument) => argument.startsWith('test/'));
const lane = process.env.TEST_LANE ?? (isNamed ? 'all' : '');
const sizes = LANES[lane];
if (sizes === undefined && !isExhaustive()) throw new Error(`There is no lane ${lane} of tests.`);

// The workers and the programs that they start inherit it.
process.env.TMPDIR = temporaryFolder();
// A run reads this file once for each project.
const isFirst = process.env.TEST_SEED === undefined;
process.env.TEST_SEED = seedOfRun();
if (isFirst && process.env.SWEEPS === 'ci') {
  const { commit } = Ratchet.parse(JSON.parse(readFileSync('test/ratchet.json', 'utf8')));
  const git = spawnSync('git', ['diff', '--name-only', commit, 'HEAD'], { encoding: 'utf8' });
  // A history without that commit does not tell what was changed since.
  const touched = git.status === 0 ? sweepsTouchedBy(git.stdout.trim().split('\n')) : Object.keys(SWEEPS);
  process.env.SWEEPS_IN_FULL = touched.join('\n');
}

/** Files of sweeps of which `npm test` has run its share. */
const SWEPT_BY_NPM_TEST = Object.values(SWEEPS)
  .map(({ file }) => file)
  .filter((file) => sizeOf(file) !== 'large');

// One project, so that a worker loads each module once.
const files =
  sizes === undefined
    ? new Set([...Object.values(SWEEPS).map(({ file }) => file), ...INSTALLING])
    : new Set([...testFiles(...sizes), ...(process.env.SWEEPS === 'ci' ? SWEPT_BY_NPM_TEST : [])]);

export default defineConfig({
  test: {
    // These end what hangs. A test does not know how busy its machine is, and has no limit of its own.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // Twice as many as there are cores: many tests wait for a clock, a server or a disk.
    maxWorkers: availableParallelism() * 2,
    // V8 compiles what is called often to faster code. Most of what tests call often ends before that pays.
    // Node 22 and later refuse the option.
    execArgv: process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : [],
    // No module of the project has state, so that test files can share the modules that a worker has loaded.
    isolate: false,
    setupFiles: ['test/support/count-usage.ts'],
    reporters: ['default', 'test/support/usage-reporter.ts'],
    expect: { poll: { timeout: PATIENCE_MS } },
    sequence: { sequencer: LongestFirst },
    include: [...files],
  },
});
