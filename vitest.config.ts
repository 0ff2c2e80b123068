import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { temporaryFolder } from './test/support/temporary-folder.js';
import { testFiles } from './test/support/test-files.js';
import { LongestFirst } from './test/support/test-order.js';

const { fast, others } = testFiles();

// The workers and the programs that they start inherit it.
process.env.TMPDIR = temporaryFolder();

export default defineConfig({
  test: {
    testTimeout: 120_000,
    hookTimeout: 240_000,
    // Twice as many as there are cores: many tests wait for a clock, a server or a disk.
    maxWorkers: availableParallelism() * 2,
    // No module of the project has state, so that test files can share the modules that a worker has loaded.
    isolate: false,
    // A second, the default, is short on a machine that is busy.
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongestFirst },
    projects: [
      // What `npm run test:fast` runs.
      { extends: true, test: { name: 'fast', include: [...fast] } },
      { extends: true, test: { name: 'service', include: [...others] } },
    ],
  },
});
