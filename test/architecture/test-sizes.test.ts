import { existsSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { SWEEPS } from '../support/sweeps.js';
import { sizeOf, testFiles } from '../support/test-sizes.js';
import { ROOT } from './import-graph.js';

const MOST_WALKS = 10;
const MOST_SHARE_OF_NPM_TEST = 1 / 30;

/** Modules of tests that start programs, and the one program that every medium test may use. */
const PROGRAMS = /from 'node:(?:child_process|worker_threads|cluster)'/;
const THE_POSTGRES = 'test/support/postgres.ts';
const NETWORK = /from '(?:node:(?:http|https|http2|net|dgram|tls|dns|dns\/promises)|fastify)'/;
/** Starts the PostgreSQL of the run. */
const DATABASE = 'src/platform/database/embedded/index.ts';

interface Module {
  readonly text: string;
  readonly imports: readonly string[];
}

const modules = new Map<string, Module>();

function moduleOf(file: string): Module {
  const known = modules.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(resolve(ROOT, file), 'utf8');
  // A type import starts nothing.
  const imports = [...text.matchAll(/^(?!import type|export type).*(?:from|import)\s*\(?\s*'(\.[^']+)'/gm)]
    .map(([, specifier = '']) => relative(ROOT, resolve(ROOT, dirname(file), specifier)).replace(/\.js$/, '.ts'))
    .filter((path) => path.endsWith('.ts') && existsSync(resolve(ROOT, path)));
  const read = { text, imports };
  modules.set(file, read);
  return read;
}

function reachableFrom(file: string): readonly string[] {
  const reached = new Set([file]);
  // A set is iterated in insertion order, including the elements added during the iteration.
  for (const one of reached) for (const next of moduleOf(one).imports) reached.add(next);
  return [...reached];
}

/** Modules of tests that a file reaches and that a pattern is found in. */
function testsWith(pattern: RegExp, file: string): readonly string[] {
  return reachableFrom(file).filter(
    (one) => one.startsWith('test/') && one !== THE_POSTGRES && pattern.test(moduleOf(one).text),
  );
}

test('a small test uses no process, no network and no database', () => {
  const wrong = testFiles('small').filter(
    (file) =>
      testsWith(PROGRAMS, file).length > 0 ||
      testsWith(NETWORK, file).length > 0 ||
      reachableFrom(file).includes(DATABASE),
  );
  expect(wrong).toEqual([]);
});

test('a medium test starts no process but the PostgreSQL of the run', () => {
  expect(testFiles('small', 'medium').filter((file) => testsWith(PROGRAMS, file).length > 0)).toEqual([]);
});

test('a sweep is large, unless npm test runs a very small share of it', () => {
  const wrong = Object.entries(SWEEPS).filter(
    ([, { file, share }]) => sizeOf(file) !== 'large' && share > MOST_SHARE_OF_NPM_TEST,
  );
  expect(wrong).toEqual([]);
});

test('a walk is one of few', () => {
  expect(testFiles('walk').length).toBeLessThanOrEqual(MOST_WALKS);
});

test('the folder of engines has the tests that need them', () => {
  const misplaced = testFiles('small', 'medium', 'walk', 'large', 'engine').filter(
    (file) => (sizeOf(file) === 'engine') !== file.startsWith('test/engines/'),
  );
  expect(misplaced).toEqual([]);
});
