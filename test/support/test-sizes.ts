import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The sizes of test files, by the ending of their names (CONTRIBUTING.md, “Sizes of tests”):
 * small: no process, network or database;
 * medium: the one PostgreSQL of the run, the application in the test's process, local HTTP;
 * walk: one short walk of a large family, at most ten files;
 * large: processes of the service, Chromium, Java, sweeps, kills, disks;
 * engine: clusters of servers, one for each case.
 */
export type Size = 'small' | 'medium' | 'walk' | 'large' | 'engine';

const ENDINGS: readonly (readonly [ending: string, size: Size])[] = [
  ['.db.test.ts', 'medium'],
  ['.walk.test.ts', 'walk'],
  ['.large.test.ts', 'large'],
  ['.engine.test.ts', 'engine'],
];

/** @param file its name, with or without folders */
export function sizeOf(file: string): Size {
  return ENDINGS.find(([ending]) => file.endsWith(ending))?.[1] ?? 'small';
}

/** The test files of some sizes, relative to the repository, in the order of their names. */
export function testFiles(...sizes: readonly Size[]): readonly string[] {
  return readdirSync(resolve(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules') && sizes.includes(sizeOf(name)))
    .map((name) => join('test', name))
    .sort();
}

/** Sizes of the tests of each lane (`TEST_LANE`); the empty name is `npm test`. */
export const LANES: Readonly<Record<string, readonly Size[]>> = {
  '': ['small', 'medium', 'walk'],
  fast: ['small'],
  all: ['small', 'medium', 'walk', 'large'],
  /** What `npm test` leaves out of `all`. */
  rest: ['large'],
  engines: ['engine'],
};
