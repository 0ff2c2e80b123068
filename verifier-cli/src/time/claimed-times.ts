import { counted } from '../../../schemas/text/counted.js';
import type { EntryFindings } from '../findings/entry-findings.js';
import type { ProvedTime } from './stamped-times.js';

/** By how much a clock of the service may run ahead of the authority's: 300 s. */
export const CLOCK_TOLERANCE_MS = 300_000;
/** Delay between a claimed time and its stamp from which on the report warns: 1 h. */
export const WARN_DELAY_MS = 3_600_000;

/** Between which proved times an entry was sealed. */
interface Sealed {
  /** Null if no earlier stamp is named, enclosed and sound. */
  readonly after: ProvedTime | null;
  /** Null if stamps that hold of too few authorities cover the entry. */
  readonly before: ProvedTime | null;
  /** How many distinct authorities cover the entry with stamps that hold, and how many must. */
  readonly authorities: { readonly found: number; readonly required: number };
}

/**
 * Holds the time that the service claims for an entry against the proved times of its sealing.
 * @param createdAt claimed time, milliseconds since 1970
 * @param maxDelay milliseconds by which the stamp may come later than the claimed time
 */
export function verifyClaimedTime(
  createdAt: number,
  { after, before: end, authorities }: Sealed,
  maxDelay: number,
  findings: EntryFindings,
): void {
  if (end === null) {
    const { found, required } = authorities;
    findings.open(
      'time.stamped',
      found === 0 && required === 1
        ? 'no valid time stamp covers the entry'
        : `valid time stamps of ${counted(found, 'distinct authority', 'distinct authorities')} cover the entry: ${required} are required`,
    );
    findings.open('time.claimed', 'there is no proved time to compare the claimed time with');
    return;
  }
  findings.pass('time.stamped');
  // An authority that states a wide accuracy proves only the end of it.
  const delay = end.time + end.accuracy - createdAt;
  if (delay < -CLOCK_TOLERANCE_MS) {
    findings.fail('time.claimed', 'the time stamp is earlier than the claimed creation time');
  } else if (delay > maxDelay) {
    findings.open(
      'time.claimed',
      `stamped ${hours(delay)} h after the claimed time: the record was stamped late or is backdated`,
    );
  } else {
    findings.pass('time.claimed');
    const isOlderThanStart = after !== null && createdAt < after.time - after.accuracy - CLOCK_TOLERANCE_MS;
    if (delay > WARN_DELAY_MS) findings.all.warn(`stamped ${hours(delay)} h after the claimed time`, findings.at);
    if (isOlderThanStart)
      findings.all.warn(
        `claimed time is ${minutes(after.time - createdAt)} min before the time stamp after which the batch was sealed: sealed late or backdated`,
        findings.at,
      );
  }
}

function minutes(milliseconds: number): string {
  return (milliseconds / 60_000).toFixed(0);
}

function hours(milliseconds: number): string {
  return (milliseconds / 3_600_000).toFixed(1);
}
