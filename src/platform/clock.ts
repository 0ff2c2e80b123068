import * as z from 'zod';
import type { ServiceLogger } from './background/part.js';
import type { Queryable } from './database/pool.js';

/** Maximum difference between two clocks of one installation, in milliseconds. */
export const MAX_CLOCK_DIFFERENCE_MS = 60_000;

const clockRows = z.tuple([z.object({ at: z.date() })]);

/**
 * Returns by how many milliseconds this process's clock is ahead of the database's, or 0 if the difference is less than
 * the duration of the query.
 * @param now Unix milliseconds
 */
export async function clockDifference(db: Queryable, now: () => number): Promise<number> {
  const before = now();
  const { rows } = await db.query('select clock_timestamp() as at');
  const after = now();
  const at = clockRows.parse(rows)[0].at.getTime();
  if (at < before) return before - at;
  return at > after ? after - at : 0;
}

/**
 * The clock cannot be trusted. No Merkle batch is sealed by it: `sealed_at` never decreases, so one
 * wrong time would be permanent.
 */
export class ClockNotTrusted extends Error {
  override readonly name = 'ClockNotTrusted';
}

/**
 * Returns the trusted time.
 * @throws ClockNotTrusted
 */
export type TrustedClock = () => Promise<Date>;

export interface TrustedClockOptions {
  readonly db: Queryable;
  readonly logger: ServiceLogger;
  /**
   * Time in milliseconds for which a clock that jumped is not trusted, even if the database agrees. A machine that was
   * asleep can continue after that.
   */
  readonly holdMs?: number;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic?: () => number;
}

const HOLD_MS = 15 * 60_000;

/**
 * Creates a clock that refuses a time that differs from the database's by more than a minute. It
 * also refuses a time that jumped by more than a minute since the last read, because on one machine
 * both clocks jump together.
 */
export function createTrustedClock(options: TrustedClockOptions): TrustedClock {
  const { db, logger, holdMs = HOLD_MS, now = Date.now, monotonic = () => performance.now() } = options;
  let offset: number | null = null;
  let jumpedAt: number | null = null;

  const refuse = (reason: string): never => {
    logger.error({ part: 'sealer', reason }, 'no events are sealed, because the clock cannot be trusted');
    throw new ClockNotTrusted(reason);
  };
  return async () => {
    const difference = await clockDifference(db, now);
    if (Math.abs(difference) > MAX_CLOCK_DIFFERENCE_MS) {
      refuse(`this machine's clock is ${Math.round(difference / 1000)} s ahead of the database's`);
    }
    const time = now();
    const jump = offset === null ? 0 : time - monotonic() - offset;
    if (Math.abs(jump) > MAX_CLOCK_DIFFERENCE_MS) {
      jumpedAt ??= monotonic();
      if (monotonic() - jumpedAt < holdMs) refuse(`the clock has jumped by ${Math.round(jump / 1000)} s`);
    }
    jumpedAt = null;
    offset = time - monotonic();
    return new Date(time);
  };
}
