// Bundles the suite as one module. It is read while an adapter is written, so nothing is made shorter.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

await build({
  absWorkingDir: dirname(fileURLToPath(import.meta.url)),
  entryPoints: ['src/index.ts'],
  outfile: 'dist/index.js',
  bundle: true,
  format: 'esm',
  charset: 'utf8',
  target: 'es2022',
  logLevel: 'warning',
});
