// Prints how heavy the project is: lines of code without comments and blank lines, and committed lines
// that a program writes.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Committed, and written by `npm run openapi`, `npm run docs:schema` and the builders of the corpus. */
const GENERATED = [
  /^docs\/schema\.md$/,
  /^src\/platform\/database\/migrations\/schema\.json$/,
  /^test\/corpus\/index\.json$/,
];
/** Start and end of a comment in each language. */
const COMMENTS = {
  css: { line: /^$/, from: '/*', to: '*/' },
  js: { line: /^\s*\/\//, from: '/*', to: '*/' },
  py: { line: /^\s*#/, from: '"""', to: '"""' },
  sh: { line: /^\s*#/, from: null, to: null },
  sql: { line: /^\s*--/, from: '/*', to: '*/' },
  ts: { line: /^\s*\/\//, from: '/*', to: '*/' },
};

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n').filter(existsSync);
const isGenerated = (file) => GENERATED.some((pattern) => pattern.test(file));

/** @returns lines that are neither blank nor only a comment */
function linesOfCode(file) {
  const rules = COMMENTS[file.split('.').at(-1)];
  if (rules === undefined) return 0;
  let isComment = false;
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((text) => {
      const line = text.trim();
      if (isComment) {
        isComment = !line.includes(rules.to);
        return false;
      }
      if (line === '' || rules.line.test(line)) return false;
      if (rules.from === null || !line.startsWith(rules.from)) return true;
      isComment = !line.slice(rules.from.length).includes(rules.to);
      return false;
    }).length;
}

const sum = (some, count) => some.reduce((total, file) => total + count(file), 0);
const codeIn = (folder) =>
  sum(
    files.filter((file) => file.startsWith(folder) && !isGenerated(file)),
    linesOfCode,
  );
const allLines = (file) => readFileSync(file, 'utf8').split('\n').length - 1;
const figures = {
  ...Object.fromEntries(
    ['src/', 'schemas/', 'projections/', 'verifier-cli/', 'sdk/', 'dashboard/', 'bench/', 'test/'].map((folder) => [
      `lines of code, ${folder}`,
      codeIn(folder),
    ]),
  ),
  'committed lines that a program writes, no page': sum(
    files.filter((file) => isGenerated(file) && !file.endsWith('.md')),
    allLines,
  ),
  'committed lines that a program writes, pages': sum(
    files.filter((file) => isGenerated(file) && file.endsWith('.md')),
    allLines,
  ),
  'pages of documentation': files.filter((file) => /^docs\/[^/]+\.md$/.test(file)).length,
  'test files': files.filter((file) => file.endsWith('.test.ts')).length,
};
const width = Math.max(...Object.keys(figures).map((name) => name.length));
for (const [name, figure] of Object.entries(figures))
  console.log(`${name.padEnd(width)}  ${String(figure).padStart(7)}`);
