// Makes test/corpus anew: bundles write-corpus.ts and runs it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'consent-ledger-corpus-'));
try {
  const outfile = join(temporary, 'write-corpus.mjs');
  buildSync({
    entryPoints: [join(here, 'write-corpus.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  });
  execFileSync(process.execPath, [outfile, join(here, '../../corpus')], { stdio: 'inherit' });
} finally {
  rmSync(temporary, { recursive: true });
}
