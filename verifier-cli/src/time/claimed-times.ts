import { counted } from '../../../schemas/text/counted.js';
import type { CheckId } from '../findings/check-table.js';
import type { EntryFindings } from '../findings/entry-findings.js';
import type { AllowedDelays } from './allowed-delays.js';
import { durationText } from './duration-text.js';
import type { ProvedTime } from './stamped-times.js';

/** By how much two clocks may differ: 300 s. */
export const CLOCK_TOLERANCE_MS = 300_000;

/** When an entry was sealed. */
export interface Sealed {
  /** Null if no earlier stamp is proved. */
  readonly after: ProvedTime | null;
  /** Null if stamps that hold of too few authorities cover the entry. */
  readonly before: ProvedTime | null;
  /** How many distinct authorities cover the entry with stamps that hold, and how many must. */
  readonly authorities: { readonly found: number; readonly required: number };
  /** The check because of which `before` is null; null: it has no other cause. */
  readonly missing: CheckId | null;
  /** `sealed_at` of its batch, milliseconds since 1970; null without the batch. */
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
        ? 'no valid time stamp covers the entry'
        : `valid time stamps of ${counted(found, 'distinct authority', 'distinct authorities')} cover the entry: ${required} are required`,
      sealed.missing,
    );
    findings.report('time.claimed', 'not-applicable', 'there is no time stamp to compare the claimed time with');
    return;
  }
  findings.pass('time.stamped');
  const contradiction = contradictionOf(createdAt, sealed, sealed.before);
  const doubt = contradiction ?? doubtOf(createdAt, sealed, sealed.before, allowed);
  if (doubt === null) findings.pass('time.claimed');
  else if (contradiction === null) findings.open('time.claimed', doubt);
  else findings.fail('time.claimed', contradiction);
}

/** No delay explains a time after the end. */
function contradictionOf(createdAt: number, { sealedAt }: Sealed, end: ProvedTime): string | null {
  if (createdAt > end.time + end.accuracy + CLOCK_TOLERANCE_MS)
    return 'the time stamp is earlier than the claimed creation time';
  if (sealedAt !== null && createdAt > sealedAt + CLOCK_TOLERANCE_MS)
    return 'the claimed creation time is after sealed_at of the batch';
  return null;
}

/** Why the record was sealed or stamped later than the policy allows, or is backdated. */
function doubtOf(
  createdAt: number,
  { after, sealedAt }: Sealed,
  end: ProvedTime,
  { sealMs, stampMs }: AllowedDelays,
): string | null {
  // An authority that states a wide accuracy proves only the end of it.
  const delay = end.time + end.accuracy - createdAt;
  if (delay > stampMs)
    return `stamped ${durationText(delay)} after the claimed time, and ${durationText(stampMs)} are allowed: the record was stamped late or is backdated`;
  const early = after === null ? 0 : after.time - createdAt;
  if (after !== null && early > after.accuracy + CLOCK_TOLERANCE_MS + sealMs)
    return `the claimed time is ${durationText(early)} before the time stamp after which the batch was sealed: the record was sealed late or is backdated`;
  if (sealedAt !== null && sealedAt - createdAt > CLOCK_TOLERANCE_MS + sealMs)
    return `sealed ${durationText(sealedAt - createdAt)} after the claimed time, and ${durationText(sealMs)} are allowed: the record was sealed late or is backdated`;
  return null;
}
