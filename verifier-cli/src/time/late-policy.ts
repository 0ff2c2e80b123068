import { type Finding, finding } from '../findings/finding.js';
import type { PolicyInForce } from '../policy/policies.js';
import type { ProvedTime } from './stamped-times.js';

/**
 * The warning about a policy that was stamped later than it allows. It takes effect with its stamp and makes no record
 * doubtful: otherwise an outage of the authority at the first start would do so forever.
 * @param number number of the policy
 * @param createdAt claimed time of the policy, milliseconds since 1970
 * @param before the end of the interval of its batch
 * @param policy the newest one in that batch
 * @returns null if there is nothing to warn about
 */
export function latePolicy(
  number: number,
  createdAt: number,
  before: ProvedTime | null,
  policy: PolicyInForce,
): Finding | null {
  const delay = before === null ? 0 : before.time + before.accuracy - createdAt;
  if (delay <= policy.sealWithinMs + policy.stampWithinMs) return null;
  return finding('policy-stamped-late', { number, delay });
}
