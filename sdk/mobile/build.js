// Bundles the SDK as one module, for the bundlers of React Native and Capacitor.
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
  minify: true,
  format: 'esm',
  charset: 'utf8',
  // Hermes knows no private members of classes: they become weak maps.
  target: 'es2020',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});
const notices = await thirdPartyNotices('@consent-ledger/mobile', here, Object.keys(metafile.inputs));
await writeFile(join(here, 'dist/THIRD-PARTY-NOTICES.txt'), notices);
