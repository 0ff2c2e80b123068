import { clockDifference, MAX_CLOCK_DIFFERENCE_MS } from '../../platform/clock.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';

export interface CheckedClockOptions {
  readonly db: Queryable;
  /** Interval between comparisons of the clocks while requests arrive, in milliseconds. */
  readonly everyMs: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** Called when the difference begins to exceed the limit. */
  readonly onDifference: (milliseconds: number) => void;
}

const RETRY_AFTER_SECONDS = 30;

/**
 * Creates the clock that dates records. A call compares it with the clock of the database in the
 * background, at most once in `everyMs`.
 * @returns a function that returns Unix milliseconds; it throws RequestRefused
 *   ADMISSION_UNAVAILABLE while the clocks differ by more than a minute
 */
export function createCheckedClock(options: CheckedClockOptions): () => number {
  const { db, everyMs, now, monotonic, onDifference } = options;
  let isTrusted = true;
  let looking = false;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const look = async (): Promise<void> => {
    looking = true;
    try {
      const difference = await clockDifference(db, now);
      const isClose = Math.abs(difference) <= MAX_CLOCK_DIFFERENCE_MS;
      if (isTrusted && !isClose) onDifference(difference);
      isTrusted = isClose;
    } catch {
      // The admission itself detects and reports an unreachable database.
    } finally {
      looking = false;
      lookedAt = monotonic();
    }
  };
  return () => {
    if (!looking && monotonic() - lookedAt >= everyMs) void look();
    if (isTrusted) return now();
    throw new RequestRefused('ADMISSION_UNAVAILABLE', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  };
}
