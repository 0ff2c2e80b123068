// Bundles the SDK as a module and as a script for pages.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { minify } from 'terser';
import { shortened } from '../shared/internal-names.js';

const here = dirname(fileURLToPath(import.meta.url));
const common = {
  absWorkingDir: here,
  bundle: true,
  // terser removes white space, because esbuild would also remove comments that bundlers read.
  minifySyntax: true,
  minifyIdentifiers: true,
  charset: 'utf8',
  // Private members of classes stay private, and every browser since 2021 has them.
  external: ['./placeholder.js', './opt-out.js'],
  target: ['chrome103', 'edge103', 'firefox115', 'safari16'],
  legalComments: 'none',
  // Classes and modules are strict whether a directive says so or not, and nothing else needs it.
  tsconfigRaw: { compilerOptions: { alwaysStrict: false, useDefineForClassFields: false } },
  logLevel: 'warning',
};
await mkdir(join(here, 'dist'), { recursive: true });
await bundle('index', 'esm');
await bundle('script', 'iife', 'consent');
// Loaded by pages with content that is gated.
await bundle('gate', 'esm');
// Loaded by the previous file, on pages with placeholders for gated content.
await bundle('placeholder', 'esm');
// Loaded by pages of visitors who withdrew something.
await bundle('withdrawn', 'esm');
// Loaded when a visitor opens the text of the policy.
await bundle('policy', 'esm');
// Loaded by pages on which somebody signs in.
await bundle('../../account/account', 'esm', 'account');
// Loaded by the gate, on pages with the link to the opt-out.
await bundle('opt-out', 'esm');
// Loaded by tag managers, which cannot give attributes to a script.
await bundle('tag-manager', 'iife');
// Loaded by a developer, by hand.
await bundle('inspect', 'esm');
// Loaded by the script of a page that was opened by a link to a draft.
await bundle('draft', 'esm');
// Loaded by pages of sites that speak the signals of IAB.
const LIBRARIES = '/* Contains libraries of IAB Tech Lab under the Apache License 2.0, changed by bundling. */';
await bundle('../../iab/speak-iab', 'esm', 'iab', LIBRARIES);
await bundle('../../iab/stub', 'iife', 'iab-stub', LIBRARIES);

/** esbuild bundles, and gives private members short names. terser then makes the text 3 % smaller. */
async function bundle(entry, format, name = entry, preamble = '') {
  const { outputFiles } = await build({ ...common, entryPoints: [`src/${entry}.ts`], format, write: false });
  // No property is read for its effect, and no function is asked for the number of its parameters.
  const options = {
    ecma: 2020,
    module: format === 'esm',
    // Comments by which bundlers leave the import of the service's own file as it is. No bundler reads a script.
    format: { preamble, comments: format === 'esm' && /webpackIgnore|@vite-ignore/ },
    // The libraries of IAB have names of their own.
    mangle: preamble === '' ? shortened('isSignalled') : {},
    compress: {
      passes: 5,
      sequences: false,
      keep_fargs: false,
      pure_getters: true,
      lhs_constants: false,
      unsafe_arrows: true,
    },
  };
  const { code } = await minify(outputFiles[0].text, options);
  await writeFile(join(here, 'dist', `${name}.js`), code);
}
