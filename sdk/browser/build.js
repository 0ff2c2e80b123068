// Bundles the SDK as a module and as a script for pages, and writes its types.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  charset: 'utf8',
  // Private members of classes stay private, and every browser since 2021 has them.
  target: ['chrome103', 'edge103', 'firefox115', 'safari16'],
  legalComments: 'none',
  logLevel: 'warning',
};
await build({ ...common, entryPoints: ['src/index.ts'], outfile: 'dist/index.js', format: 'esm' });
await build({ ...common, entryPoints: ['src/script.ts'], outfile: 'dist/consent.js', format: 'iife' });
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
execFileSync(process.execPath, [compiler, '-p', here], { stdio: 'inherit' });
