// Builds what is stale, and prints “Building…” only then. A part is stale if an output is missing, or if
// the contents or the list of its inputs differ from those of its last build; times of files do not count.
// Names on the command line add parts that only they need: `node scripts/build.js bench`.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** Removed with the packages, so that a new installation builds everything. */
const STATE = join(ROOT, 'node_modules/.cache/build.json');
const PACKAGES = ['package.json', 'package-lock.json'];
const NOTICES = ['scripts/third-party-notices.js', 'scripts/bill-of-materials.js'];
const VITE = join(ROOT, 'node_modules/vite/bin/vite.js');

/**
 * @typedef {object} Part
 * @property {readonly string[]} inputs files and folders
 * @property {readonly string[]} outputs some of what the part makes, by which it is missed
 * @property {readonly (readonly string[])[]} commands arguments of Node, one process after the other
 * @property {string} [folder] in which the commands run; the repository unless given
 * @property {true} [onlyByName]
 */

const sdk = (name, others) => ({
  inputs: [`sdk/${name}`, ...others.map((other) => `sdk/${other}`), 'sdk/shared', ...NOTICES, ...PACKAGES],
  outputs: [`sdk/${name}/dist`],
  folder: `sdk/${name}`,
  commands: [['build.js']],
});

/** Each stage needs what those before it made; the parts of one stage are built at the same time. @type {readonly Readonly<Record<string, Part>>[]} */
const STAGES = [
  {
    service: {
      inputs: [
        'src',
        'schemas',
        'docs',
        'projections',
        'bench/export-process.ts',
        'scripts/build-service.js',
        ...NOTICES,
        ...PACKAGES,
      ],
      outputs: ['dist/main.js', 'dist/openapi/tool-api.json', 'dist/openapi/panel-api.yaml', 'dist/openapi/pages.json'],
      commands: [['scripts/build-service.js'], ['dist/write-descriptions.js'], ['dist/write-pages.js']],
    },
  },
  {
    clients: {
      inputs: ['dist/openapi', 'sdk/shared/generate-types.js', 'dashboard/generate-client.js', ...PACKAGES],
      outputs: ['sdk/shared/tool-api.ts', 'dashboard/src/api/panel-api.ts'],
      commands: [['sdk/shared/generate-types.js'], ['dashboard/generate-client.js']],
    },
    verifier: {
      inputs: ['verifier-cli', 'schemas', 'sdk/banner', ...NOTICES, ...PACKAGES],
      outputs: [
        'verifier-cli/dist/consent-verify.js',
        'verifier-cli/dist/consent-verify.html',
        'verifier-cli/dist/verify-page.js',
      ],
      folder: 'verifier-cli',
      commands: [['build.js']],
    },
    bench: {
      inputs: ['bench', 'src', 'schemas', 'projections', 'test', 'scripts/build-service.js', ...PACKAGES],
      outputs: ['dist/bench.js', 'dist/soak.js'],
      commands: [['scripts/build-service.js', 'bench']],
      onlyByName: true,
    },
  },
  {
    'browser SDK': sdk('browser', ['account', 'banner', 'core', 'iab']),
    'conformance suite': sdk('conformance', []),
    'mobile SDK': sdk('mobile', ['account', 'core']),
    'Node SDK': { ...sdk('node', ['core']), inputs: [...sdk('node', ['core']).inputs, 'schemas'] },
    'React SDK': sdk('react', ['browser', 'banner', 'core', 'iab']),
    dashboard: {
      inputs: [
        'dashboard',
        'sdk/banner',
        'sdk/browser/src',
        'sdk/core',
        'sdk/shared',
        'schemas',
        ...NOTICES,
        ...PACKAGES,
      ],
      outputs: ['dashboard/dist/index.html', 'dashboard/dist/THIRD-PARTY-NOTICES.txt'],
      folder: 'dashboard',
      commands: [[VITE, 'build', '--logLevel', 'warn']],
    },
  },
];

const named = process.argv.slice(2);
const digests = new Map();
let isSaid = false;
for (const stage of STAGES) {
  const parts = Object.entries(stage).filter(([name, { onlyByName }]) => !onlyByName || named.includes(name));
  await Promise.all(parts.map(([name, part]) => buildIfStale(name, part)));
  // A stage writes inputs of the next one.
  digests.clear();
}

async function buildIfStale(name, part) {
  const digest = digestOf(part.inputs);
  if (readState()[name] === digest && part.outputs.every((output) => existsSync(join(ROOT, output)))) return;
  if (!isSaid) console.log('Building…');
  isSaid = true;
  // An interrupted build leaves no mark.
  writeState(name, undefined);
  for (const command of part.commands) await run(command, join(ROOT, part.folder ?? ''));
  writeState(name, digest);
}

function digestOf(inputs) {
  const hash = createHash('sha256');
  for (const file of inputs.flatMap(filesIn)) {
    if (!digests.has(file))
      digests.set(
        file,
        createHash('sha256')
          .update(readFileSync(join(ROOT, file)))
          .digest('hex'),
      );
    hash.update(`${file}\0${digests.get(file)}\n`);
  }
  return hash.digest('hex');
}

/** @returns a file, or the files below a folder without those that are built or installed, in a fixed order */
function filesIn(path) {
  if (!statSync(join(ROOT, path)).isDirectory()) return [path];
  return readdirSync(join(ROOT, path), { withFileTypes: true })
    .filter(({ name }) => !['node_modules', '__pycache__'].includes(name) && (name !== 'dist' || path === 'dist'))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isFile() || entry.isDirectory() ? filesIn(join(path, entry.name)) : []));
}

/** @returns the digests of the inputs of each part at its last build */
function readState() {
  return existsSync(STATE) ? JSON.parse(readFileSync(STATE, 'utf8')) : {};
}

function writeState(name, digest) {
  mkdirSync(dirname(STATE), { recursive: true });
  writeFileSync(STATE, JSON.stringify({ ...readState(), [name]: digest }));
}

function run(args, cwd) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd, stdio: 'inherit' });
    child.once('exit', (code) => {
      if (code === 0) resolve();
      // The failed process has already printed the reason.
      else process.exit(code ?? 1);
    });
  });
}
