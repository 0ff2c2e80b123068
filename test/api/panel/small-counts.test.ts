import fc from 'fast-check';
import { expect, it } from 'vitest';
import { allOrNothing, type ShownCount, withoutSmallCounts } from '../../../src/api/panel/small-counts.js';

const line = (...counts: readonly number[]) => withoutSmallCounts(counts.map((count) => [count])).flat();

it('shows a line without small counts as it is', () => {
  expect(line(10, 11, 2000)).toEqual([10, 11, 2000]);
});

it('hides another count where one small count would be the rest of the sum', () => {
  expect(line(300, 4, 120)).toEqual([300, 'fewer_than_10', 'not_shown']);
});

it('hides as many as it takes where the next count would bound the hidden one', () => {
  expect(line(50, 3, 51, 400)).toEqual(['not_shown', 'fewer_than_10', 'not_shown', 400]);
});

it('hides all equal counts', () => {
  expect(line(20, 3, 20, 400)).toEqual(['not_shown', 'fewer_than_10', 'not_shown', 400]);
});

it('hides no others where the small counts hide each other', () => {
  expect(line(300, 4, 5, 3, 120)).toEqual([300, 'fewer_than_10', 'fewer_than_10', 'fewer_than_10', 120]);
});

it('hides one where the sum of the small counts says that all of them are 0', () => {
  expect(line(300, 0, 0, 0, 120)).toEqual([300, 'fewer_than_10', 'fewer_than_10', 'fewer_than_10', 'not_shown']);
});

it('looks at each column by itself', () => {
  const table = [
    [300, 20],
    [4, 30],
    [120, 40],
  ];
  expect(withoutSmallCounts(table)).toEqual([
    [300, 20],
    ['fewer_than_10', 30],
    ['not_shown', 40],
  ]);
});

it('hides the whole table where rows count the same consents and one of them is small', () => {
  // 100 accept all, 12 analytics alone and 3 marketing alone: 103 and 12 for marketing would give the 3 away.
  expect(
    allOrNothing([
      [112, 3],
      [103, 12],
    ]),
  ).toEqual([
    ['not_shown', 'fewer_than_10'],
    ['not_shown', 'not_shown'],
  ]);
  expect(
    allOrNothing([
      [112, 30],
      [103, 39],
    ]),
  ).toEqual([
    [112, 30],
    [103, 39],
  ]);
});

/** Every sum that counts from these ranges can have, found by adding one after the other. */
function sumsOf(ranges: readonly (readonly [number, number])[]): ReadonlySet<number> {
  let sums = new Set([0]);
  for (const [least, most] of ranges) {
    const next = new Set<number>();
    for (const sum of sums) for (let count = least; count <= most; count += 1) next.add(sum + count);
    sums = next;
  }
  return sums;
}

it('leaves every small count any value from 0 to 9, unless the line is hidden altogether', () => {
  const counts = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 10, max: 70 }));
  let looked = 0;
  fc.assert(
    fc.property(fc.array(counts, { minLength: 1, maxLength: 6 }), (wanted) => {
      const shown = line(...wanted);
      const numbers = shown.filter((count) => typeof count === 'number');
      const hidden = shown.filter((count) => typeof count !== 'number');
      if (numbers.length === 0 || hidden.length === 0) return;
      looked += 1;
      const hiddenSum = wanted
        .filter((_, place) => typeof shown[place] !== 'number')
        .reduce((one, other) => one + other);
      const range = (count: ShownCount): readonly [number, number] =>
        count === 'fewer_than_10' ? [0, 9] : [10, Math.min(...numbers) - 1];
      const place = hidden.indexOf('fewer_than_10');
      const sums = sumsOf(hidden.filter((_, other) => other !== place).map(range));
      for (let value = 0; value < 10; value += 1) expect(sums.has(hiddenSum - value), `${value}`).toBe(true);
    }),
    { numRuns: 1000 },
  );
  expect(looked).toBeGreaterThan(100);
});
