import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { ROOT } from './import-graph.js';

const Mutations = z.array(z.object({ id: z.string(), file: z.string(), find: z.string(), tests: z.array(z.string()) }));
const read = (file: string): string => readFileSync(resolve(ROOT, file), 'utf8');

test('each planted fault has one place in the source, and its tests are there', () => {
  const lost = Mutations.parse(JSON.parse(read('test/mutations.json'))).filter(
    ({ file, find, tests }) =>
      read(file).split(find).length !== 2 || !tests.every((name) => existsSync(resolve(ROOT, name))),
  );
  expect(lost.map(({ id }) => id)).toEqual([]);
});
