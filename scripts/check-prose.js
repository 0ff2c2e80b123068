// Checks the rules about prose and names, and prints each violation with its file and line.
// `npm run lint` runs it after Biome.
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { documentationPages, OTHER_PAGES, publicTexts, ROOT, read } from './prose/public-texts.js';

const pages = documentationPages();
const texts = await publicTexts();
/** Each rule, and its violations. */
const RULES = {
  'Every kind of public text is read': missingTexts,
  'A page begins with what the reader can do after reading it': () => pages.filter((page) => !hasOutcome(page)),
  'Prose in docs/ is wrapped at 100 columns': () => pages.flatMap(longLines),
  'A file that a page names exists': () => [...pages, ...OTHER_PAGES].flatMap(missingFiles),
  'A link leads to a file, and to a heading of it': () => [...pages, ...OTHER_PAGES].flatMap(brokenLinks),
  'docs/README.md lists every page': unlistedPages,
  'docs/admission.md names the file of each check and each decision': rulesWithoutFile,
};

let failed = false;
for (const [rule, check] of Object.entries(RULES)) {
  const violations = check();
  if (violations.length === 0) continue;
  failed = true;
  console.error(`${rule}:\n${violations.map((one) => `  ${one}\n`).join('')}`);
}
if (failed) process.exitCode = 1;
else console.log(`Checked ${texts.length} texts for ${Object.keys(RULES).length} rules.`);

function missingTexts() {
  const empty = texts.filter(({ text }) => text.trim().length < 40).map(({ source }) => `${source} is empty`);
  const help = texts.find(({ source }) => source === 'consent-ledger --help')?.text ?? '';
  const named = [
    'consent-ledger admin quarantine release --help',
    'consent-verify compare --help',
    'docs/examples/http/README.md',
  ].filter((source) => !texts.some((text) => text.source === source));
  return [
    ...empty,
    ...named.map((source) => `${source} is missing`),
    ...(help.includes('Exit codes:') ? [] : ['The help lacks the texts after the options']),
  ];
}

function hasOutcome(page) {
  const [, first = ''] = read(page).split(/\n\n/);
  return /^After reading this page,? you (?:can|know)\b/.test(first.replaceAll('\n', ' '));
}

function longLines(page) {
  return (
    withoutBlocks(read(page))
      .split('\n')
      // A row of a table cannot be wrapped, nor can a single long word.
      .flatMap((line, index) => (line.length > 100 && !/^\||^- \w+ `|^\S+$/.test(line) ? [`${page}:${index + 1}`] : []))
  );
}

/** Files and folders of the repository that stand as code in a text: `src/main.ts`, `test/verifier/scale.large.test.ts`. */
function namedPaths(text) {
  const code = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, span]) => span.split(' '));
  return code.filter((word) =>
    /^(?:src|schemas|projections|verifier-cli|sdk|test|docs|ops|bench|scripts|bin)\/[\w./-]+$/.test(word),
  );
}

function missingFiles(page) {
  // A package's README names its files from its own folder.
  const folders = [ROOT, resolve(ROOT, dirname(page))];
  return namedPaths(read(page))
    .filter((path) => !folders.some((folder) => existsSync(resolve(folder, path))))
    .map((path) => `${page} names ${path}`);
}

function brokenLinks(page) {
  const text = withoutBlocks(read(page)).replaceAll(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([, path, heading]) => {
    const target = path === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), path));
    if (!existsSync(join(ROOT, target))) return [`${page} links to ${target}`];
    if (heading === undefined || headingsOf(target).includes(heading)) return [];
    return [`${page} links to ${target}#${heading}`];
  });
}

function headingsOf(page) {
  return [...withoutBlocks(read(page)).matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}

function unlistedPages() {
  const map = read('docs/README.md');
  return pages
    .filter((page) => /^docs\/[^/]+$/.test(page) && page !== 'docs/README.md')
    .filter((page) => !map.includes(`](${page.slice('docs/'.length)})`));
}

function rulesWithoutFile() {
  const text = read('docs/admission.md');
  const checks = text.split('\n').filter((line) => /^\| \d+ \|/.test(line));
  const decisions = (text.split('\n## Decisions\n')[1] ?? '').split('\n## ')[0].split('\n- ').slice(1);
  const isNumbered = checks.length === 16 && checks.every((line, index) => Number(line.split('|')[1]) === index + 1);
  return [
    ...(isNumbered && decisions.length > 8
      ? []
      : ['The checks are not numbered from 1 to 16, or decisions are missing']),
    ...[...checks, ...decisions].filter((rule) => !namedPaths(rule).some((path) => /\.(?:ts|sql)$/.test(path))),
  ];
}

/** Empties blocks of code, and keeps their lines. */
function withoutBlocks(markdown) {
  return markdown.replaceAll(/^( *)(```|~~~)[\s\S]*?^ *\2/gm, (block) => block.replaceAll(/[^\n]/g, ''));
}
