import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { z } from 'zod';
import { ERROR_CODES } from '../../schemas/api/error-codes.js';
import { createProgram } from '../../src/cli/program.js';
import { packageReadme } from '../../src/evidence/package/package-readme.js';
import { CHECK_RULES, CHECKS } from '../../verifier-cli/src/index.js';
import { bundleCommand } from '../verifier/bundled-command.js';
import { ROOT } from './import-graph.js';
import { proseOfMarkdown } from './refused-words.js';

/** A text that a person reads who has not read the code. */
export interface PublicText {
  /** The file, or what prints the text. */
  readonly source: string;
  readonly text: string;
}

const read = (path: string): string => readFileSync(resolve(ROOT, path), 'utf8');

const filesBelow = (folder: string, ending: string): readonly string[] =>
  readdirSync(resolve(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => `${folder}/${name}`);

/** Names of the documentation's pages, relative to the repository. */
export function documentationPages(): readonly string[] {
  return filesBelow('docs', '.md');
}

/** Every public text of the repository and its programs. */
export async function publicTexts(): Promise<readonly PublicText[]> {
  return [
    ...[
      ...documentationPages(),
      'README.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
      'verifier-cli/README.md',
      'sdk/browser/README.md',
      'sdk/node/README.md',
      'test/acceptance/README.md',
      'test/corpus/README.md',
    ].map((source) => ({ source, text: proseOfMarkdown(read(source)) })),
    ...filesBelow('dist/openapi', '.json').map((source) => ({
      source,
      text: descriptionText(JSON.parse(read(source))),
    })),
    {
      source: 'ops/grafana/consent-ledger.json',
      text: descriptionText(JSON.parse(read('ops/grafana/consent-ledger.json'))),
    },
    { source: 'ops/prometheus/alerts.yaml', text: descriptionText(parse(read('ops/prometheus/alerts.yaml'))) },
    {
      source: 'schemas/api/error-codes.ts',
      text: Object.values(ERROR_CODES)
        .map(({ meaning }) => meaning)
        .join('\n\n'),
    },
    {
      source: 'verifier-cli/src/findings/check-table.ts',
      text: Object.values(CHECKS)
        .map(({ meaning }) => meaning)
        .join('\n\n'),
    },
    {
      source: 'verifier-cli/src/findings/check-rules.ts',
      text: Object.values(CHECK_RULES)
        .flatMap(({ fails, opens }) => [fails, opens])
        .filter((text) => text !== null)
        .join('\n\n'),
    },
    ...(await commandLineHelp()),
    ...verifierHelp(),
    { source: 'README.txt of an evidence package', text: withoutCommands(packageReadme(README_EXAMPLE)) },
  ];
}

const TEXT_MEMBERS = new Set(['title', 'summary', 'description', 'termsOfService']);

/** The titles, summaries and descriptions of a document, each as a paragraph. */
function descriptionText(value: unknown): string {
  const texts: string[] = [];
  const visit = (inner: unknown): void => {
    const members = z.record(z.string(), z.unknown()).safeParse(inner);
    if (Array.isArray(inner)) inner.forEach(visit);
    else if (members.success) {
      for (const [name, member] of Object.entries(members.data)) {
        if (typeof member === 'string' && TEXT_MEMBERS.has(name)) texts.push(proseOfMarkdown(member));
        else visit(member);
      }
    }
  };
  visit(value);
  return texts.join('\n\n');
}

/** The help of `consent-ledger` and of every command below it. */
async function commandLineHelp(): Promise<readonly PublicText[]> {
  const { stdout, stderr } = process;
  const program = await createProgram({ env: {}, stdout, stderr, lowerPriority: () => undefined }, []);
  const visit = (command: Command, path: string): readonly PublicText[] => [
    { source: `${path} --help`, text: helpOf(command) },
    ...command.commands.flatMap((inner) => visit(inner, `${path} ${inner.name()}`)),
  ];
  return visit(program, program.name());
}

/** Returns the output of `--help`, with the texts that are added after the options. */
function helpOf(command: Command): string {
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
function verifierHelp(): readonly PublicText[] {
  const command = bundleCommand();
  try {
    const main = command.run('--help').stdout;
    const names = [...main.matchAll(/^ {2}([a-z]+) .*(?:<|\[options\])/gm)].map(([, name = '']) => name);
    return [
      { source: 'consent-verify --help', text: main },
      ...names.map((name) => ({ source: `consent-verify ${name} --help`, text: command.run(name, '--help').stdout })),
    ];
  } finally {
    command.remove();
  }
}

/** Lines of README.txt that are indented by four spaces are commands. */
function withoutCommands(text: string): string {
  return text.replaceAll(/^ {4}.*$/gm, '');
}

const ZERO_UUID = '00000000-0000-0000-0000-000000000000';

/** Makes packageReadme write all that it can write of a package. */
const README_EXAMPLE: Parameters<typeof packageReadme>[0] = {
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
    counts: { entries: 1, consents: 1, erased: 0, attachments: 0, not_yet_stamped: 1 },
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
