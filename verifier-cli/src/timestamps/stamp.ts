import { type TimestampReport, wasNotMade } from '../../../schemas/rfc3161/report.js';
import type { CheckId } from '../findings/checks.js';
import type { Findings } from '../findings/findings.js';

/** A valid newer stamp over a ledger that names an older one. */
export interface RenewingStamp {
  readonly size: number;
  /** Its genTime. The older stamp is evaluated by the algorithms that were secure then. */
  readonly time: Date;
}

/** A time stamp over a checkpoint. */
export interface Stamp {
  readonly size: number;
  /** Name of the response file. */
  readonly file: string;
  /** Hex SHA-256 of the response file: batches sealed later name it. */
  readonly sha256: string;
  readonly report: TimestampReport;
  /** The newer stamp at whose time it was evaluated, or null if there is none. */
  readonly renewedBy: RenewingStamp | null;
}

/**
 * Returns the check that explains why a stamp is not valid: the first that failed, or else the first that is undecided.
 * Without one, a stamp is valid, unless nothing connects its checkpoint to the newest.
 */
export function causeOfStamp({ checks }: TimestampReport): CheckId {
  const made = checks.filter((check) => !wasNotMade(check));
  const cause =
    made.find(({ outcome }) => outcome === 'fail') ?? made.find(({ outcome }) => outcome === 'indeterminate');
  return cause?.id ?? 'ledger.consistency';
}

/** Returns the check that explains why a stamp is missing altogether, or null if none does. */
export function causeOfNoStamp(findings: Findings): CheckId | null {
  const isBad = (id: CheckId): boolean => !['pass', 'not-applicable'].includes(findings.outcomeOf(id));
  return (['ledger.checkpoint', 'tst.format'] as const).find(isBad) ?? null;
}

/** Stamps by size of their checkpoint, smallest first, and by their number. */
export type Stamps = readonly Stamp[];
