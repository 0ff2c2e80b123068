import { clockDifference, MAX_CLOCK_DIFFERENCE_MS } from '../../platform/database/clock-difference.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors/request-refused.js';

export interface CheckedClockOptions {
  readonly db: Queryable;
  /** How often the clocks are compared while requests come, in milliseconds. */
  readonly everyMs: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** Told when the clocks begin to differ too much. */
  readonly onDifference: (milliseconds: number) => void;
}

const RETRY_AFTER_SECONDS = 30;

/**
 * The clock that records are dated by. It is compared with the database's in the background when it is asked, at most `everyMs` old while requests
 * come.
 * @returns Unix milliseconds; throws RequestRefused ADMISSION_UNAVAILABLE while the two differ by more than a minute
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
      const fits = Math.abs(difference) <= MAX_CLOCK_DIFFERENCE_MS;
      if (isTrusted && !fits) onDifference(difference);
      isTrusted = fits;
    } catch {
      // An unreachable database is found out, and told, by the admission itself.
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
