// Bundles the verifier, the schemas it imports and its libraries into one file, so that the package needs nothing else.
import { chmod } from 'node:fs/promises';
import { build } from 'esbuild';

await build({
  entryPoints: [new URL('./src/main.ts', import.meta.url).pathname],
  outfile: new URL('./dist/consent-verify.js', import.meta.url).pathname,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  legalComments: 'linked',
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
await chmod(new URL('./dist/consent-verify.js', import.meta.url), 0o755);
