import { expect, test } from 'vitest';
import { coverOf, firstCovered, levelOf, rollUpsOver } from '../../schemas/evidence/roll-ups.js';

const SIZES = [0, 1, 127, 128, 129, 300, 16_383, 16_384, 16_385, 16_600, 40_000];

test.each(SIZES)('a ledger of %i leaves is covered once and completely, and never by more than it has', (size) => {
  let next = 0;
  for (const number of coverOf(size)) {
    expect(firstCovered(number)).toBe(next);
    next = number + 1;
  }
  expect(next).toBe(size);
});

test('every batch is under the roll-up of its period, at both levels', () => {
  expect(rollUpsOver(0, 100)).toEqual([]);
  expect(rollUpsOver(0, 128)).toEqual([127]);
  expect(rollUpsOver(129, 20_000)).toEqual([255, 16_383]);
  expect(rollUpsOver(16_300, 20_000)).toEqual([16_383]);
  for (const size of SIZES) {
    const cover = new Set(coverOf(size));
    for (let batch = 0; batch < size; batch += 61) {
      if (levelOf(batch) !== 0) continue;
      const holding = [batch, ...rollUpsOver(batch, size)];
      expect(holding.filter((number) => cover.has(number))).toHaveLength(1);
    }
  }
});

test('a year of batches every ten seconds is covered by few leaves', () => {
  expect([...coverOf(3_155_760)].length).toBeLessThan(450);
});
