import type { BatchHeader } from '../../../schemas/evidence/batch-header.js';
import { firstCovered } from '../../../schemas/evidence/roll-ups.js';

const COUNTS = ['count', 'streams_count', 'tags_count'] as const;

/**
 * Describes how the headers of two leaves of one ledger contradict each other, or null if they do not.
 * @param one header of the leaf with the lower number
 */
export function headersProblem(one: BatchHeader, other: BatchHeader): string | null {
  if (one.number >= other.number) return null;
  const leaves = `in leaf ${one.number}, and then`;
  if (one.policies > other.policies)
    return `counts ${one.policies} policies ${leaves} ${other.policies} in leaf ${other.number}`;
  if (one.sealed_at > other.sealed_at)
    return `states ${one.sealed_at} as the time of sealing ${leaves} ${other.sealed_at} in leaf ${other.number}`;
  const [before, after] = [one.after?.size ?? 0, other.after?.size ?? 0];
  if (before > after) return `names a time stamp over ${before} leaves ${leaves} over ${after} in leaf ${other.number}`;
  const less = one.number >= firstCovered(other.number) ? COUNTS.find((name) => one[name] > other[name]) : undefined;
  if (less === undefined) return null;
  return `states a ${less} of ${one[less]} ${leaves} ${other[less]} in roll-up ${other.number}, which covers it`;
}
