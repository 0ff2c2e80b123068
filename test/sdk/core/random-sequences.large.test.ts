import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { sampled } from '../../support/sweeps.js';

const run = promisify(execFile);
const SEQUENCES = fileURLToPath(new URL('model/sequences.ts', import.meta.url));
const COUNT = Number(process.env.CHOICE_SEQUENCES ?? 100_000);
const SEED = Number(process.env.CHOICE_SEED ?? 29);
/** The sequences are tried in parts of this size, each with a seed of its own. */
const PART = 5_000;
const parts = Array.from({ length: Math.ceil(COUNT / PART) }, (_, part) => ({
  seed: SEED + part,
  count: Math.min(PART, COUNT - part * PART),
}));
/** For a machine that is busy with other tests. */
const LIMIT = { timeout: 1_200_000 };

test(
  'random sequences of choices, pages, hosts, signals, clocks, storage and network faults keep every promise',
  LIMIT,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-sequences-'));
    const outfile = join(folder, 'sequences.mjs');
    try {
      await build({ entryPoints: [SEQUENCES], outfile, bundle: true, platform: 'node', format: 'esm' });
      for (const { count, seed } of sampled('random sequences of a visitor', parts)) {
        const { stdout } = await run(process.execPath, [outfile, String(count), String(seed)]);
        console.log(stdout.trim());
        expect(stdout).toContain(`${count} sequences`);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
