import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { INSTALLING, isExhaustive, SWEEPS, seedOfRun } from './test/support/sweeps.js';
import { temporaryFolder } from './test/support/temporary-folder.js';
import { testFiles } from './test/support/test-files.js';
import { LongestFirst } from './test/support/test-order.js';
import { PATIENCE_MS } from './test/support/wait.js';

const { fast, others, engines } = testFiles();

// The workers and the programs that they start inherit it.
process.env.TMPDIR = temporaryFolder();
// A run reads this file once for each project.
const isFirst = process.env.TEST_SEED === undefined;
process.env.TEST_SEED = seedOfRun();
if (isFirst && !isExhaustive()) {
  console.log(`Sweeps are sampled by TEST_SEED=${process.env.TEST_SEED}. npm run test:exhaustive runs all of them.`);
}

// One project, so that a worker loads each module once.
const files = isExhaustive()
  ? new Set([...Object.values(SWEEPS).map(({ file }) => file), ...INSTALLING])
  : process.env.TEST_LANE === 'engines'
    ? engines
    : process.env.TEST_LANE === 'fast'
      ? fast
      : [...fast, ...others];

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
    expect: { poll: { timeout: PATIENCE_MS } },
    sequence: { sequencer: LongestFirst },
    include: [...files],
  },
});
