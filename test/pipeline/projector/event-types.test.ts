import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EVENT_TYPES } from '../../../projections/event-types.js';

// A type that the shipped projections do not know stops all of them when its first event arrives.
test('the shipped projections know every type of event that the schemas define', () => {
  const folder = new URL('../../../schemas/events/', import.meta.url);
  const defined = readdirSync(folder)
    .flatMap((file) => [...readFileSync(new URL(file, folder), 'utf8').matchAll(/^export const \w+ = '(\w+\.v\d+)'/gm)])
    .map(([, type]) => type);
  expect(defined.length).toBeGreaterThan(10);
  expect(EVENT_TYPES.toSorted()).toEqual(defined.toSorted());
});
