import { expect, it } from 'vitest';
import { misspelledMembers } from '../../../src/pipeline/admission/misspelled-members.js';

const unknown = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`other_${i}`, 1]));

it('compares as many unknown members as an honest caller can have, and no more', () => {
  const [warning] = misspelledMembers({ ...unknown(99), visitorid: 'ann' });
  expect(warning).toMatchObject({ field: 'visitorid', message: expect.stringContaining('visitor_id') });
  // Anyone can sign a body of 100,000 such members with the key of a page.
  expect(misspelledMembers({ ...unknown(100), visitorid: 'ann' })).toEqual([]);
});

it('repeats ten warnings at most', () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`visitor_id${'-'.repeat(i % 3)}${i % 10}`, 1]));
  expect(Object.keys(many).length).toBeGreaterThan(10);
  expect(misspelledMembers(many)).toHaveLength(10);
});
