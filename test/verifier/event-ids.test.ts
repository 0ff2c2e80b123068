import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { EventIds } from '../../verifier-cli/src/entries/event-ids.js';

test('each id is new once, also after the table has grown many times', () => {
  const seen = new EventIds();
  const ids = Array.from({ length: 150_000 }, () => randomUUID());
  expect(ids.filter((id) => !seen.add(id))).toEqual([]);
  expect(ids.filter((id) => seen.add(id))).toEqual([]);
  expect(seen.add(randomUUID())).toBe(true);
});

test('ids that differ in one digit anywhere are different', () => {
  const seen = new EventIds();
  const id = '01234567-89ab-7def-8123-456789abcdef';
  expect(seen.add(id)).toBe(true);
  for (const [i, digit] of [...id].entries()) {
    if (digit !== '-') expect(seen.add(`${id.slice(0, i)}${digit === 'f' ? '0' : 'f'}${id.slice(i + 1)}`)).toBe(true);
  }
  expect(seen.add(id)).toBe(false);
});
