// Bundles the SDK with the schemas of the service, which check every answer.
import { writeFile } from 'node:fs/promises';
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
