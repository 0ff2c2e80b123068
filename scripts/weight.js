// Prints how heavy the project is: lines of code without comments and blank lines of every tracked file
// that people write, by folder and as one sum; and beside it, not summed, what programs write, JSON and
// test data. A library in place of own code makes the sum smaller, and its lock file does not count.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** Start and end of a comment, by the ending of a file. */
const C_LIKE = { line: /^\s*\/\//, from: '/*', to: '*/' };
const COMMENTS = {
  css: { line: /^$/, from: '/*', to: '*/' },
  js: C_LIKE,
  jsx: C_LIKE,
  mjs: C_LIKE,
  py: { line: /^\s*#/, from: '"""', to: '"""' },
  sh: { line: /^\s*#/, from: null, to: null },
  sql: { line: /^\s*--/, from: '/*', to: '*/' },
  ts: C_LIKE,
  tsx: C_LIKE,
};
/** Committed, and written by tests (`UPDATE_SCHEMA`) and by the builders of the interop cases. */
const WRITTEN_BY_PROGRAMS = [/^src\/platform\/database\/migrations\/schema\.json$/, /^interop\/index\.json$/];
const FOLDERS = [
  'bench',
  'dashboard',
  'docs',
  'projections',
  'schemas',
  'scripts',
  'sdk',
  'src',
  'test',
  'verifier-cli',
];

const endingOf = (file) => file.split('.').at(-1);
const allLines = (file) => readFileSync(file, 'utf8').split('\n').length - 1;

/** @returns lines that are neither blank nor only a comment */
function linesOfCode(file) {
  const { line, from, to } = COMMENTS[endingOf(file)];
  let isComment = false;
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((text) => text.trim())
    .filter((text) => {
      if (isComment) {
        isComment = !text.includes(to);
        return false;
      }
      if (text === '' || line.test(text)) return false;
      if (from === null || !text.startsWith(from)) return true;
      isComment = !text.slice(from.length).includes(to);
      return false;
    }).length;
}

/** @returns {{ code: Record<string, number>, beside: Record<string, number> }} `code` ends with the sum of the others */
export function weigh() {
  const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n').filter(existsSync);
  const code = files.filter((file) => Object.hasOwn(COMMENTS, endingOf(file)));
  const folderOf = (file) => FOLDERS.find((folder) => file.startsWith(`${folder}/`)) ?? 'other';
  const sum = (some, count) => some.reduce((total, file) => total + count(file), 0);
  const byFolder = Object.fromEntries(
    [...FOLDERS, 'other'].map((folder) => [
      folder,
      sum(
        code.filter((file) => folderOf(file) === folder),
        linesOfCode,
      ),
    ]),
  );
  const isWritten = (file) => WRITTEN_BY_PROGRAMS.some((pattern) => pattern.test(file));
  const inSource = code.filter((file) => file.startsWith('src/'));
  return {
    code: { ...byFolder, 'one sum': sum(code, linesOfCode) },
    beside: {
      'lines that a program writes': sum(files.filter(isWritten), allLines),
      'lines of lock files': sum(
        files.filter((file) => /(?:^|\/)package-lock\.json$/.test(file)),
        allLines,
      ),
      'lines of other JSON and YAML': sum(
        files.filter(
          (file) => /\.(?:json|ya?ml)$/.test(file) && !isWritten(file) && !file.endsWith('package-lock.json'),
        ),
        allLines,
      ),
      'files in src': inSource.length,
      'files in src of at most 25 lines of code': inSource.filter((file) => linesOfCode(file) <= 25).length,
      'most lines of code of a file in src': Math.max(...inSource.map(linesOfCode)),
      'pages of documentation': files.filter((file) => /^docs\/[^/]+\.md$/.test(file)).length,
      'test files': files.filter((file) => file.endsWith('.test.ts')).length,
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { code, beside } = weigh();
  for (const [title, figures] of Object.entries({ 'Lines of code': code, Beside: beside })) {
    console.log(`${title}:`);
    for (const [name, figure] of Object.entries(figures))
      console.log(`  ${name.padEnd(42)} ${String(figure).padStart(7)}`);
  }
}
