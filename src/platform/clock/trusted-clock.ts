import type { ServiceLogger } from '../background/part.js';
import { clockDifference, MAX_CLOCK_DIFFERENCE_MS } from '../database/clock-difference.js';
import type { Queryable } from '../database/pool.js';

/** No batch is sealed by a clock that cannot be right: `sealed_at` never goes back, so one wrong time would stay for ever. */
export class ClockNotTrusted extends Error {
  override readonly name = 'ClockNotTrusted';
}

/** The time to seal by. @throws ClockNotTrusted */
export type TrustedClock = () => Promise<Date>;

export interface TrustedClockOptions {
  readonly db: Queryable;
  readonly logger: ServiceLogger;
  /** How long a clock that jumped is not trusted, though the database agrees, in milliseconds: a machine that slept goes on then. */
  readonly holdMs?: number;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Milliseconds that only go forward, evenly. */
  readonly monotonic?: () => number;
}

const HOLD_MS = 15 * 60_000;

/**
 * Reads the clock, unless it differs from the database's by more than a minute, or has jumped by more than that since it was read last: where both
 * are on one machine, both jump.
 */
export function createTrustedClock(options: TrustedClockOptions): TrustedClock {
  const { db, logger, holdMs = HOLD_MS, now = Date.now, monotonic = () => performance.now() } = options;
  let offset: number | null = null;
  let jumpedAt: number | null = null;

  const refuse = (reason: string): never => {
    logger.error({ part: 'sealer', reason }, 'nothing is sealed: the clock cannot be trusted');
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
