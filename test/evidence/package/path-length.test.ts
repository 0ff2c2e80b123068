import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inclusionRanges } from '../../../schemas/merkle/proofs.js';
import { inclusionPathLength } from '../../../src/evidence/package/proofs-files.js';

it('computes the length of every audit path without making the path', () => {
  for (let size = 1; size <= 70; size += 1) {
    for (let index = 0; index < size; index += 1) {
      expect(inclusionPathLength(index, size)).toBe(inclusionRanges(index, size).length);
    }
  }
  fc.assert(
    fc.property(fc.nat({ max: 1_000_000 }), fc.nat({ max: 1_000_000 }), (index, more) => {
      expect(inclusionPathLength(index, index + 1 + more)).toBe(inclusionRanges(index, index + 1 + more).length);
    }),
  );
});
