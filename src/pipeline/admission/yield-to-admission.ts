import * as z from 'zod';
import { pause } from '../../platform/background/waiting.js';
import type { Queryable } from '../../platform/database/pool.js';

export interface YieldOptions {
  /** A handle in a role that reads the usage of quotas. */
  readonly db: Queryable;
  /** Monotonic milliseconds. */
  readonly monotonic?: () => number;
  /** @param ms milliseconds */
  readonly wait?: (ms: number) => Promise<void>;
}

/** Consents per second at which long work pauses for as long as it works. */
const RATE_OF_EQUAL_SHARES = 500;
/** Long work keeps at least a third of the time, so that it finishes under any load. */
const MAX_PAUSE_RATIO = 2;
/** A timer cannot pause for much less than a millisecond, so short pauses are accumulated. */
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1000;
const SAMPLE_EVERY_MS = 1000;
/** After this long without a call, new work has begun. */
const NEW_WORK_AFTER_MS = 10_000;

/**
 * Returns a function that long work calls between two steps. It pauses while admission is busy, because a visitor waits
 * for each consent. Lowering the priority of the process is not enough: that affects neither its connections to
 * PostgreSQL nor another machine. Without consents there is no pause.
 */
export function createYieldToAdmission(options: YieldOptions): () => Promise<void> {
  const { db, monotonic = () => performance.now(), wait = pause } = options;
  let sampled: Sample | null = null;
  let rate = 0;
  let workingSince = monotonic();
  let owedMs = 0;

  const sample = async (): Promise<void> => {
    const admitted = await countAdmitted(db);
    const at = monotonic();
    rate = sampled === null || admitted === null ? 0 : rateBetween(sampled, { at, admitted });
    sampled = admitted === null ? null : { at, admitted };
  };
  return async () => {
    const workedMs = monotonic() - workingSince;
    if (workedMs > NEW_WORK_AFTER_MS) {
      sampled = null;
      rate = 0;
    }
    if (sampled === null || monotonic() - sampled.at >= SAMPLE_EVERY_MS) await sample();
    owedMs = Math.min(MAX_PAUSE_MS, owedMs + pauseAfter(workedMs, rate));
    if (owedMs >= MIN_PAUSE_MS) {
      await wait(owedMs);
      owedMs = 0;
    }
    workingSince = monotonic();
  };
}

/**
 * @param workedMs milliseconds of work
 * @param rate consents that admission accepts per second
 * @returns milliseconds to pause
 */
export function pauseAfter(workedMs: number, rate: number): number {
  return workedMs * Math.min(MAX_PAUSE_RATIO, rate / RATE_OF_EQUAL_SHARES);
}

interface Sample {
  /** Monotonic milliseconds. */
  readonly at: number;
  /** Consents admitted in the month. */
  readonly admitted: number;
}

function rateBetween(earlier: Sample, later: Sample): number {
  return (Math.max(0, later.admitted - earlier.admitted) * 1000) / (later.at - earlier.at);
}

const Used = z.tuple([z.object({ used: z.coerce.number() })]);

/** @returns null if it cannot be read now; the work itself will meet and report the failure */
async function countAdmitted(db: Queryable): Promise<number | null> {
  try {
    const { rows } = await db.query({
      name: 'admitted_consents',
      text: `select coalesce(sum(used), 0) as used from consent_usage
              where month = date_trunc('month', clock_timestamp() at time zone 'UTC')::date`,
    });
    return Used.parse(rows)[0].used;
  } catch {
    return null;
  }
}
