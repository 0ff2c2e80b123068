import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './import-graph.js';
import { documentationPages } from './public-texts.js';

const PAGES = [
  ...documentationPages(),
  'README.md',
  'CONTRIBUTING.md',
  'verifier-cli/README.md',
  'sdk/browser/README.md',
  'sdk/node/README.md',
  'test/acceptance/README.md',
  'test/corpus/README.md',
];

/** Files and folders of the repository that stand as code in a text: `src/platform/config`, `test/verifier/scale.test.ts`. */
function namedPaths(text: string): readonly string[] {
  const code = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, span = '']) => span.split(' '));
  return code.filter((word) =>
    /^(?:src|schemas|projections|verifier-cli|sdk|test|docs|ops|bench|scripts|bin)\/[\w./-]+$/.test(word),
  );
}

test.each(PAGES)('%s names files that exist', (page) => {
  // A package's README names its files from its own folder.
  const folders = [ROOT, resolve(ROOT, dirname(page))];
  const missing = namedPaths(readFileSync(resolve(ROOT, page), 'utf8')).filter(
    (path) => !folders.some((folder) => existsSync(resolve(folder, path))),
  );
  expect(missing).toEqual([]);
});

test('docs/admission.md names a file for each check and each decision', () => {
  const text = readFileSync(resolve(ROOT, 'docs/admission.md'), 'utf8');
  const checks = text.split('\n').filter((line) => /^\| \d+ \|/.test(line));
  expect(checks.map((line) => Number(line.split('|')[1]))).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
  const decisions = (text.split('\n## Decisions\n')[1] ?? '').split('\n## ')[0]?.split('\n- ').slice(1) ?? [];
  expect(decisions.length).toBeGreaterThan(8);
  for (const rule of [...checks, ...decisions]) {
    expect(
      namedPaths(rule).filter((path) => /\.(?:ts|sql)$/.test(path)),
      rule,
    ).not.toEqual([]);
  }
});

test('finds a path that stands as code, alone or in a command, and no other text', () => {
  const text = 'See `src/main.ts`, `npx vitest run test/no-such/file.test.ts`, src/main.ts and `/api/v1/src/x`.';
  expect(namedPaths(text)).toEqual(['src/main.ts', 'test/no-such/file.test.ts']);
});
