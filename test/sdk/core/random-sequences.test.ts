import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const SEQUENCES = fileURLToPath(new URL('model/sequences.ts', import.meta.url));
const COUNT = process.env.CHOICE_SEQUENCES ?? '100000';
const SEED = process.env.CHOICE_SEED ?? '29';
/** For a machine that is busy with other tests. */
const LIMIT = { timeout: 1_200_000 };

test(
  `${COUNT} random sequences of choices, pages, hosts, signals, clocks, storage and network faults keep every promise`,
  LIMIT,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-sequences-'));
    const outfile = join(folder, 'sequences.mjs');
    try {
      await build({ entryPoints: [SEQUENCES], outfile, bundle: true, platform: 'node', format: 'esm' });
      const { stdout } = await run(process.execPath, [outfile, COUNT, SEED]);
      console.log(stdout.trim());
      expect(stdout).toContain(`${COUNT} sequences`);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
