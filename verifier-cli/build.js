// Bundles the verifier, the schemas it imports and its libraries into one file for Node and one for
// browsers, so that neither needs anything else. The witness and the monitor are a third file. Writes
// the JSON Schemas of reports and of the evidence from the same sources.
import { createHash } from 'node:crypto';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { billOfMaterials } from '../scripts/bill-of-materials.js';
import { bundledLibraries, thirdPartyNotices } from '../scripts/third-party-notices.js';
import { buildPages, load } from './build-page.js';

const here = dirname(fileURLToPath(import.meta.url));
const outdir = join(here, 'dist');
const notices = (inputs) => thirdPartyNotices('@consent-ledger/verify', here, inputs);

const { metafile } = await build({
  absWorkingDir: here,
  // Two programs, so that nothing in the verifier can open a socket.
  entryPoints: { 'consent-verify': 'src/main.ts', 'consent-verify-network': 'src/network/main.ts' },
  outdir,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  legalComments: 'none',
  metafile: true,
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
for (const name of ['consent-verify', 'consent-verify-network']) await chmod(join(outdir, `${name}.js`), 0o755);
await writeFile(join(here, 'dist/THIRD-PARTY-NOTICES.txt'), await notices(Object.keys(metafile.inputs)));
const { standalone, served, verifier, scripts, inputs } = await buildPages(notices);
await writeFile(join(here, 'dist/consent-verify.html'), standalone);
await writeFile(join(here, 'dist/verify-page.html'), served);
await writeFile(join(here, 'dist/verify-page.js'), verifier);
// What a certificate states of the program that made it.
const digests = [
  ['consent-verify.js', await readFile(join(outdir, 'consent-verify.js'))],
  ...Object.entries(scripts),
].map(([name, content]) => `${createHash('sha256').update(content).digest('hex')}  ${name}\n`);
await writeFile(join(outdir, 'consent-verify.digests.txt'), digests.join(''));
const libraries = await bundledLibraries(here, [...new Set([...Object.keys(metafile.inputs), ...inputs])]);
const product = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'));
await writeFile(join(here, 'dist/consent-verify.cdx.json'), billOfMaterials(product, libraries));
const { reportJsonSchema } = await load('src/report/report-schema.ts');
const { evidenceJsonSchema } = await load('../schemas/evidence/json-schemas.ts');
const schemas = { 'report.schema.json': reportJsonSchema(), 'evidence.schema.json': evidenceJsonSchema() };
for (const [name, schema] of Object.entries(schemas))
  await writeFile(join(outdir, name), `${JSON.stringify(schema, null, 2)}\n`);
