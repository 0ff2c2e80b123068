// Bundles the SDK as modules that share their context: all of it, the part that needs no page, and the placeholder.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { minify } from 'terser';
import { shortened } from '../shared/internal-names.js';

const here = dirname(fileURLToPath(import.meta.url));
await mkdir(join(here, 'dist'), { recursive: true });
const { outputFiles } = await build({
  absWorkingDir: here,
  entryPoints: ['src/index.ts', 'src/headless.ts', 'src/placeholder.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  // terser removes white space, because esbuild would also remove comments that bundlers read.
  minifySyntax: true,
  minifyIdentifiers: true,
  format: 'esm',
  charset: 'utf8',
  chunkNames: 'shared',
  external: ['react'],
  target: ['es2022'],
  tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
  legalComments: 'none',
  logLevel: 'warning',
  write: false,
});
// One cache for all files, so that all have the same short names.
const nameCache = {};
for (const { path, text } of outputFiles) {
  const { code } = await minify(text, {
    ecma: 2020,
    module: true,
    mangle: shortened('isSignalled'),
    nameCache,
    compress: {
      passes: 3,
      directives: false,
      keep_fargs: false,
      pure_getters: true,
      lhs_constants: false,
      unsafe_arrows: true,
    },
    // Comments by which bundlers leave the import of the service's own file as it is.
    format: { comments: /webpackIgnore|@vite-ignore/ },
  });
  // For frameworks with server components: hooks run in the browser.
  await writeFile(path, `"use client";${code}`);
}
