import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { sampled } from '../../support/sweeps.js';

const COMPARE = fileURLToPath(new URL('compare.ts', import.meta.url));
const SEED = Number(process.env.CHOICE_SEED ?? 35);
/** Sequences of one seed. */
const PART = 200;
const seeds = Array.from({ length: 25 }, (_, part) => SEED + part);

test('the SDKs for pages, for React in strict mode and for apps show, send and keep the same by the same actions', {
  timeout: 1_200_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-same-rules-'));
  const outfile = join(folder, 'compare.mjs');
  try {
    await build({
      entryPoints: [COMPARE],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      define: { 'process.env.NODE_ENV': '"development"' },
      // React is a module of Node's older kind.
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    });
    for (const seed of sampled('the same sequences with each SDK', seeds)) {
      const { stdout } = await promisify(execFile)(process.execPath, [outfile, String(PART), String(seed)]);
      console.log(stdout.trim());
      expect(stdout).toContain(`${PART} sequences`);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
