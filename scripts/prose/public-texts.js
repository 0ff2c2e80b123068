// Texts for people who have not read the code: pages, descriptions, messages and help.
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { parse } from 'yaml';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Inside `node_modules`, so that what is bundled finds the packages. */
const BUNDLES = join(ROOT, 'node_modules/.cache/prose');

export const read = (path) => readFileSync(join(ROOT, path), 'utf8');

/** @returns {readonly string[]} the Markdown pages below `docs`, relative to the repository */
export function documentationPages() {
  return readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `docs/${name}`);
}

/** Pages that stand beside the part that they describe. */
export const OTHER_PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'verifier-cli/README.md',
  'sdk/browser/README.md',
  'sdk/conformance/README.md',
  'sdk/mobile/README.md',
  'sdk/node/README.md',
  'sdk/react/README.md',
  'test/acceptance/README.md',
  'interop/README.md',
];

/** @returns {Promise<readonly { source: string, text: string }[]>} `source`: the file, or what prints the text */
export async function publicTexts() {
  const [program, verifier] = await Promise.all([bundle('program.mjs', PROGRAM), bundle('verifier.mjs', VERIFIER)]);
  const { ERROR_CODES, CHECKS, createProgram, packageReadme, dashboard, report, ...openApi } = await import(
    pathToFileURL(program).href
  );
  const table = (source, texts) => ({ source, text: texts.join('\n\n') });
  const describing = (source, value) => table(source, descriptionsIn(value));
  const { checks: _, finding: __, ...reportTexts } = report;
  return [
    ...[...documentationPages(), ...OTHER_PAGES, 'CHANGELOG.md'].map((source) => ({
      source,
      text: proseOfMarkdown(read(source)),
    })),
    describing('OpenAPI document of the Tool API', JSON.parse(openApi.toolApiText())),
    describing('OpenAPI document of the panel', openApi.panelDescription()),
    describing('ops/grafana/consent-ledger.json', JSON.parse(read('ops/grafana/consent-ledger.json'))),
    describing('ops/prometheus/alerts.yaml', parse(read('ops/prometheus/alerts.yaml'))),
    table(
      'schemas/api/error-codes.ts',
      Object.values(ERROR_CODES).map(({ meaning }) => meaning),
    ),
    table(
      'verifier-cli/src/findings/checks.ts',
      Object.values(CHECKS).flatMap(({ meaning, fails, opens }) => [meaning, fails ?? '', opens ?? '']),
    ),
    table('dashboard/src/i18n/en', textsIn(dashboard, '1')),
    table('verifier-cli/src/i18n/en', textsIn(reportTexts, ['7'])),
    { source: 'README.txt of an evidence package', text: withoutCommands(packageReadme(README_EXAMPLE)) },
    ...(await commandLineHelp(createProgram)),
    ...(await verifierHelp(verifier)),
  ];
}

const PROGRAM = {
  contents: `
    export { ERROR_CODES } from './schemas/api/error-codes.js';
    export { panelDescription, toolApiText } from './src/api/openapi/descriptions.js';
    export { createProgram } from './src/cli/program.js';
    export { packageReadme } from './src/evidence/package/readme.js';
    export { CHECKS } from './verifier-cli/src/index.js';
    export { en as report } from './verifier-cli/src/i18n/en/index.js';
    export { en as dashboard } from './dashboard/src/i18n/en/index.js';`,
  resolveDir: ROOT,
  loader: 'ts',
};
const VERIFIER = { contents: "import './verifier-cli/src/main.js';", resolveDir: ROOT, loader: 'ts' };

/** Bundles sources, so that no build has to be up to date. @returns {Promise<string>} the path of the bundle */
async function bundle(name, stdin) {
  mkdirSync(BUNDLES, { recursive: true });
  const outfile = join(BUNDLES, name);
  await build({
    stdin,
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
  return outfile;
}

const TEXT_MEMBERS = new Set(['title', 'summary', 'description', 'termsOfService']);

/** The titles, summaries and descriptions of a document. */
function descriptionsIn(value) {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'string' && TEXT_MEMBERS.has(name) ? [proseOfMarkdown(member)] : descriptionsIn(member),
  );
}

/** The texts of a tree. @param parameter stands for each parameter of a text that has some */
function textsIn(tree, parameter) {
  return Object.values(tree).flatMap((value) => {
    if (typeof value === 'string') return [value];
    if (typeof value === 'function') return [String(value(parameter, parameter, parameter, parameter))];
    return textsIn(value, parameter);
  });
}

/** The help of `consent-ledger` and of every command below it. */
async function commandLineHelp(createProgram) {
  const { stdout, stderr } = process;
  const program = await createProgram({ env: {}, stdout, stderr, lowerPriority: () => undefined }, []);
  const visit = (command, path) => [
    { source: `${path} --help`, text: helpOf(command) },
    ...command.commands.flatMap((inner) => visit(inner, `${path} ${inner.name()}`)),
  ];
  return visit(program, program.name());
}

/** The output of `--help`, with the texts that are added after the options. */
function helpOf(command) {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

/** The help of `consent-verify` and of its commands, as the program prints it. */
async function verifierHelp(program) {
  const help = async (...args) => (await promisify(execFile)(process.execPath, [program, ...args, '--help'])).stdout;
  const main = await help();
  const names = [...main.matchAll(/^ {2}([a-z-]+) .*(?:<|\[options\])/gm)].map(([, name]) => name);
  const texts = await Promise.all(
    names.map(async (name) => ({ source: `consent-verify ${name} --help`, text: await help(name) })),
  );
  return [{ source: 'consent-verify --help', text: main }, ...texts];
}

/** Lines of README.txt that are indented by four spaces are commands. */
function withoutCommands(text) {
  return text.replaceAll(/^ {4}.*$/gm, '');
}

const ZERO_UUID = '00000000-0000-0000-0000-000000000000';

/** Input that makes packageReadme write everything that it can write about a package. */
const README_EXAMPLE = {
  manifest: {
    format: 'consent-ledger-evidence',
    version: '1.0',
    origin: 'ledger.example.org',
    checkpoint: 3,
    exported_at: '2026-01-31T00:00:00.000Z',
    exported_by: 'an example',
    development: true,
    filter: {
      site_id: ZERO_UUID,
      from: null,
      to: null,
      consent_type: 'cookie',
      document_version_id: null,
      event_ids: null,
      person: null,
      disclose: 'none',
    },
    counts: { entries: 1, consents: 1, erased: 0, key_lost: 1, attachments: 0, not_yet_stamped: 1 },
    complete: [],
  },
  checkpoint: { size: 3, stamps: [{ genTime: new Date(0), authority: 'An authority' }] },
  example: {
    entryLine: 1,
    leaf: '00'.repeat(32),
    batch: 0,
    index: 0,
    batchPath: [],
    batchLine: 1,
    ledgerPath: [{ sibling: '00'.repeat(32), side: 'left' }],
  },
  site: { domain: 'shop.example', controller: 'Example Shop', contact: 'privacy@shop.example' },
  verifier: {
    name: '@consent-ledger/verify',
    version: '1.0.0',
    pageSha256: '00'.repeat(32),
    publicUrl: 'https://ledger.example.org',
  },
};

/** Replaces code, identifiers and addresses in Markdown by nothing, and keeps its lines. */
function proseOfMarkdown(markdown) {
  return markdown
    .replaceAll(/^( *)(```|~~~)[\s\S]*?^ *\2/gm, (block) => block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/`[^`\n]*`/g, '`x`')
    .replaceAll(/\]\([^)\s]*\)/g, ']')
    .replaceAll(/<?https?:\/\/[^\s>)]*>?/g, 'x');
}
