import { expect } from 'vitest';
import { CHECKS, type VerificationReport } from '../../verifier-cli/src/index.js';

/**
 * Expects that no check of a report failed or stayed open which never does, by the table of
 * docs/evidence-format.md §13.
 */
export function expectDocumentedOutcomes({ checks }: VerificationReport): void {
  const undocumented = checks.flatMap(({ id, counts }) => {
    const { fails, opens } = CHECKS[id];
    // Any failed check of a stamp stays open instead if another stamp of the checkpoint is valid.
    const mayOpen = opens !== null || id.startsWith('tst.');
    return [
      ...(counts.fail > 0 && fails === null ? [`${id} failed`] : []),
      ...(counts.indeterminate > 0 && !mayOpen ? [`${id} stayed open`] : []),
    ];
  });
  expect(undocumented).toEqual([]);
}
