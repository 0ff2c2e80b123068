import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A test that imports one of these, directly or not, starts a database or the whole service. */
const STARTS_A_SERVER: readonly string[] = [
  'src/platform/database/embedded/index.ts',
  'test/support/running-service.ts',
  'test/acceptance/support/started-service.ts',
];

/**
 * These need no database either, but each takes 5 seconds of processor time or more: they try every
 * byte, attack or hostile size, turn a loop 100,000 times, run the demonstration, start programs
 * hundreds of times, build a package several times, or ask a browser or other implementations.
 */
const EXHAUSTIVE: readonly string[] = [
  'test/demo/demo.test.ts',
  'test/platform/background/idle-loops.test.ts',
  'test/rfc3161/judges.test.ts',
  'test/sdk/built-packages.test.ts',
  'test/sdk/core/random-sequences.test.ts',
  'test/tenancy/scans/browser-flags.test.ts',
  'test/tenancy/scans/visits.test.ts',
  'test/verifier/attacks.test.ts',
  'test/verifier/browser-crypto.test.ts',
  'test/verifier/browser-page.test.ts',
  'test/verifier/by-hand-forgeries.test.ts',
  'test/verifier/by-hand.test.ts',
  'test/verifier/command.test.ts',
  'test/verifier/compare.test.ts',
  'test/verifier/corpus.test.ts',
  'test/verifier/dishonest-operator/every-byte.test.ts',
  'test/verifier/dishonest-operator/forgeries.test.ts',
  'test/verifier/hostile-size.test.ts',
  'test/verifier/policy.test.ts',
  'test/verifier/promises.test.ts',
  'test/verifier/reproducible-build.test.ts',
  'test/verifier/scale.test.ts',
  'test/verifier/sweep.test.ts',
  'test/verifier/timestamp-command.test.ts',
];

/** The folder of tests that start a cluster for each case. */
const ENGINES = 'test/engines/';

export interface TestFiles {
  /** Tests that need no database, no running service and no exhaustive search. */
  readonly fast: readonly string[];
  readonly others: readonly string[];
  /** Tests with clusters of servers, which `npm run test:engines` runs alone. */
  readonly engines: readonly string[];
}

/**
 * Classifies the test files by their imports, so that no list is needed. Paths are relative to the
 * repository.
 */
export function testFiles(): TestFiles {
  const all = readdirSync(resolve(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => join('test', name))
    .sort();
  const imports = new Map<string, readonly string[]>();
  const isFast = (file: string): boolean => {
    if (EXHAUSTIVE.includes(file)) return false;
    const reached = reachableFrom(file, imports);
    return !STARTS_A_SERVER.some((server) => reached.has(server));
  };
  const engines = all.filter((file) => file.startsWith(ENGINES));
  const fast = all.filter((file) => !engines.includes(file) && isFast(file));
  return { fast, engines, others: all.filter((file) => !fast.includes(file) && !engines.includes(file)) };
}

function reachableFrom(file: string, imports: Map<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set([file]);
  // A set is iterated in insertion order, including the elements added during the iteration.
  for (const one of reached) for (const next of importsOf(one, imports)) reached.add(next);
  return reached;
}

function importsOf(file: string, imports: Map<string, readonly string[]>): readonly string[] {
  const known = imports.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(resolve(ROOT, file), 'utf8');
  // A type import starts nothing.
  const found = [...text.matchAll(/^(?!import type|export type).*(?:from|import)\s*\(?\s*'(\.[^']+)'/gm)]
    .map(([, specifier = '']) => relative(ROOT, resolve(ROOT, dirname(file), specifier)).replace(/\.js$/, '.ts'))
    .filter((path) => path.endsWith('.ts') && existsSync(resolve(ROOT, path)));
  imports.set(file, found);
  return found;
}
