import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { DistinctIds } from '../../verifier-cli/src/entries/distinct-ids.js';
import { UUID_WORDS } from '../../verifier-cli/src/entries/uuid-words.js';

test('each id is new once, also after the table has grown many times', () => {
  const seen = new DistinctIds(UUID_WORDS);
  const ids = Array.from({ length: 150_000 }, () => randomUUID());
  expect(ids.filter((id) => !seen.add(id))).toEqual([]);
  expect(ids.filter((id) => seen.add(id))).toEqual([]);
  expect(seen.add(randomUUID())).toBe(true);
});

test('ids that differ in one digit anywhere are different', () => {
  const seen = new DistinctIds(UUID_WORDS);
  const id = '01234567-89ab-7def-8123-456789abcdef';
  expect(seen.add(id)).toBe(true);
  for (const [i, digit] of [...id].entries()) {
    if (digit !== '-') expect(seen.add(`${id.slice(0, i)}${digit === 'f' ? '0' : 'f'}${id.slice(i + 1)}`)).toBe(true);
  }
  expect(seen.add(id)).toBe(false);
});

test('tags that differ in one digit anywhere are different', () => {
  const seen = new DistinctIds(8);
  const tag = '0123456789abcdef'.repeat(4);
  expect(seen.add(tag)).toBe(true);
  for (const [i, digit] of [...tag].entries())
    expect(seen.add(`${tag.slice(0, i)}${digit === 'f' ? '0' : 'f'}${tag.slice(i + 1)}`)).toBe(true);
  expect(seen.add(tag)).toBe(false);
});
