import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

// Runs histories of the simulation: `npm run simulate -- --seed 7 --histories 100`.
const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, histories: { type: 'string', default: '20' } },
});
for (const [name, value] of Object.entries(values)) {
  if (/^[1-9]\d{0,8}$/.test(value)) continue;
  console.error(`--${name} takes a whole number above 0.`);
  process.exit(2);
}
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', 'test/reliability/simulation', '-t', 'every history', '--testTimeout=0'],
  {
    stdio: 'inherit',
    env: { ...process.env, SIMULATE_SEED: values.seed, SIMULATE_HISTORIES: values.histories },
  },
);
process.exit(status ?? 1);
