// Makes interop/ anew, or all cases in the folder that is given: bundles write-interop.ts and runs it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'consent-ledger-interop-'));
try {
  const outfile = join(temporary, 'write-interop.mjs');
  buildSync({
    entryPoints: [join(here, 'write-interop.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  });
  const interop = join(here, '../../../interop');
  execFileSync(process.execPath, [outfile, interop, process.argv[2] ?? interop], { stdio: 'inherit' });
} finally {
  rmSync(temporary, { recursive: true });
}
