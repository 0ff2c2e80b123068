// Bundles the SDK as one module, and what reads the choices of accounts as another, for React Native and Capacitor.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { minify } from 'terser';
import { thirdPartyNotices } from '../../scripts/third-party-notices.js';
import { shortened } from '../shared/internal-names.js';
import { PLAIN, plainMembers } from './plain-members.js';

const here = dirname(fileURLToPath(import.meta.url));
const { metafile, outputFiles } = await build({
  absWorkingDir: here,
  entryPoints: { index: 'src/index.ts', account: '../account/account.ts' },
  outdir: 'dist',
  write: false,
  bundle: true,
  minify: true,
  format: 'esm',
  charset: 'utf8',
  // Hermes knows no private members of classes, and weak maps in their place would be a thousand bytes.
  plugins: [plainMembers],
  target: 'es2020',
  tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});
await mkdir(join(here, 'dist'), { recursive: true });
for (const { path, text } of outputFiles) {
  // As for pages, terser makes the bundle of esbuild smaller.
  const { code } = await minify(text, {
    ecma: 2020,
    module: true,
    mangle: shortened(PLAIN),
    compress: { passes: 3, keep_fargs: false, pure_getters: true, lhs_constants: false },
  });
  await writeFile(path, code);
}
const notices = await thirdPartyNotices('@consent-ledger/mobile', here, Object.keys(metafile.inputs));
await writeFile(join(here, 'dist/THIRD-PARTY-NOTICES.txt'), notices);
