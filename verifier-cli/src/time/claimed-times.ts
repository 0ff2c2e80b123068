import type { CheckId } from '../findings/checks.js';
import type { EntryFindings } from '../findings/entry-findings.js';
import { type Finding, finding } from '../findings/finding.js';
import type { AllowedDelays } from './allowed-delays.js';
import type { ProvedTime } from './stamped-times.js';

/** How much two clocks may differ, in milliseconds (docs/evidence-format.md §9). */
export const CLOCK_TOLERANCE_MS = 300_000;

/** When an entry was sealed. */
export interface Sealed {
  /** Null if no stamp before the sealing is proved. */
  readonly after: ProvedTime | null;
  /** Null if valid stamps of too few authorities cover the entry. */
  readonly before: ProvedTime | null;
  /** How many distinct authorities cover the entry with valid stamps, and how many are required. */
  readonly authorities: { readonly found: number; readonly required: number };
  /** The check that explains why `before` is null, or null if there is no other cause. */
  readonly missing: CheckId | null;
  /** `sealed_at` of the entry's batch in milliseconds since 1970, or null if the package does not have the batch. */
  readonly sealedAt: number | null;
}

/**
 * Compares the time that the service claims for an entry with the proved times of its sealing, and
 * with its policy.
 * @param createdAt claimed time, milliseconds since 1970
 */
export function verifyClaimedTime(
  createdAt: number,
  sealed: Sealed,
  allowed: AllowedDelays,
  findings: EntryFindings,
): void {
  if (sealed.before === null) {
    const { found, required } = sealed.authorities;
    findings.open(
      'time.stamped',
      found === 0 && required === 1
        ? finding('entry-not-stamped')
        : finding('too-few-authorities', { found, required }),
      sealed.missing,
    );
    findings.report('time.claimed', 'not-applicable', finding('no-stamp-to-compare'));
    return;
  }
  findings.pass('time.stamped');
  const contradiction = contradictionOf(createdAt, sealed, sealed.before);
  const doubt = contradiction ?? doubtOf(createdAt, sealed, sealed.before, allowed);
  if (doubt === null) findings.pass('time.claimed');
  else if (contradiction === null) findings.open('time.claimed', doubt);
  else findings.fail('time.claimed', contradiction);
}

/** No delay explains a claimed time after the end of the interval. */
function contradictionOf(createdAt: number, { sealedAt }: Sealed, end: ProvedTime): Finding | null {
  if (createdAt > end.time + end.accuracy + CLOCK_TOLERANCE_MS) return finding('created-after-stamp');
  if (sealedAt !== null && createdAt > sealedAt + CLOCK_TOLERANCE_MS) return finding('created-after-sealing');
  return null;
}

/** Why the record was sealed or stamped later than the policy allows, or is backdated. */
function doubtOf(
  createdAt: number,
  { after, sealedAt }: Sealed,
  end: ProvedTime,
  { sealMs, stampMs }: AllowedDelays,
): Finding | null {
  // If an authority states a wide accuracy, only the end of the interval is proved.
  const delay = end.time + end.accuracy - createdAt;
  if (delay > stampMs) return finding('stamped-late', { delay, allowed: stampMs });
  const early = after === null ? 0 : after.time - createdAt;
  if (after !== null && early > after.accuracy + CLOCK_TOLERANCE_MS + sealMs)
    return finding('claimed-before-start', { early });
  if (sealedAt !== null && sealedAt - createdAt > CLOCK_TOLERANCE_MS + sealMs)
    return finding('sealed-late', { delay: sealedAt - createdAt, allowed: sealMs });
  return null;
}
