// Makes test/corpus anew, or the whole corpus in the folder that is given: bundles write-corpus.ts and runs it.
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
  const corpus = join(here, '../../corpus');
  execFileSync(process.execPath, [outfile, corpus, process.argv[2] ?? corpus], { stdio: 'inherit' });
} finally {
  rmSync(temporary, { recursive: true });
}
