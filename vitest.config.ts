import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    // A second, the default, is short on a machine that is busy.
    expect: { poll: { timeout: 20_000 } },
  },
});
