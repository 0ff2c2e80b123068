// Bundles the SDK with the schemas of the service, which check every answer, and writes its types.
import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { thirdPartyNotices } from '../../scripts/third-party-notices.js';

const here = dirname(fileURLToPath(import.meta.url));
const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: ['src/index.ts'],
  outfile: 'dist/index.js',
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});
const notices = await thirdPartyNotices('@consent-ledger/node', here, Object.keys(metafile.inputs));
await writeFile(join(here, 'dist/THIRD-PARTY-NOTICES.txt'), notices);
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
execFileSync(process.execPath, [compiler, '-p', here], { stdio: 'inherit' });
// The public types are those of sdk/shared. The schemas are for the checks inside.
await rm(join(here, 'dist/types/schemas'), { recursive: true });
