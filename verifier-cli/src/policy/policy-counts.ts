import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { Batches } from '../batches/batches.js';
import type { CheckId, Outcome } from '../findings/checks.js';
import { type Finding, finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';

/** Parts of the package with which the counts of policies are compared. */
interface Counted {
  readonly batches: Batches;
  /** Size of the checkpoint, or null if the package has none. */
  readonly size: number | null;
  /** Batches of the policies that the package contains, one for each policy. */
  readonly policies: readonly number[];
  /** Whether the stream of policies is known to be incomplete (`completeness.runs`). */
  readonly isCut: boolean;
}

/**
 * Verifies that the package contains as many policies as each batch header counts (docs/evidence-format.md §9). The
 * header of the last leaf below the checkpoint counts all of them, so not even a receipt can leave out the newest
 * policy. Only the first wrong count is reported: one missing policy makes all later counts wrong.
 * @returns the outcome; no record gets a better outcome than this
 */
export function verifyPolicyCounts(counted: Counted, findings: Findings): Outcome {
  if (counted.size === null) {
    findings.skip('completeness.policies', finding('policies-not-counted'));
    return 'not-applicable';
  }
  const { outcome, message, because = null } = evaluate(counted, counted.size);
  findings.report('completeness.policies', outcome, message, { file: PACKAGE_FILES.batches }, because);
  return outcome;
}

interface Evaluated {
  readonly outcome: Outcome;
  readonly message: Finding;
  readonly because?: CheckId | null;
}

function evaluate({ batches, policies, isCut }: Counted, size: number): Evaluated {
  const places = policies.toSorted((a, b) => a - b);
  let included = 0;
  for (const { header, verdict } of batches.values()) {
    while (included < places.length && (places[included] ?? 0) <= header.number) included += 1;
    if (verdict !== 'invalid' && header.policies !== included)
      return {
        outcome: 'fail',
        because: isCut ? 'completeness.runs' : null,
        message: finding('policy-count-differs', { batch: header.number, counted: header.policies, included }),
      };
  }
  const last = size - 1;
  const holder = batches.get(last);
  if (batches.unknown.has(last))
    return {
      outcome: 'indeterminate',
      message: finding('last-batch-unknown', { batch: last }),
    };
  if (holder === undefined)
    return {
      outcome: 'fail',
      because: isCut ? 'completeness.runs' : null,
      message: finding('last-batch-missing', { batch: last }),
    };
  if (holder.verdict === 'invalid')
    return {
      outcome: 'indeterminate',
      message: finding('last-batch-failed', { batch: last }),
      because: holder.cause,
    };
  return { outcome: 'pass', message: finding('all-policies-included') };
}
