import type pg from 'pg';
import * as z from 'zod';
import { clockDifference, MAX_CLOCK_DIFFERENCE_MS } from '../../platform/clock.js';
import { isConnectionFailure } from '../../platform/database/errors.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import type { ReadinessSource } from '../../platform/health.js';
import { isItemFault } from './submit.js';

/** Reports approximately whether too many events wait for the event log. */
export interface OutboxGauge {
  /** Returns the result of the last measurement, which is at most about `everyMs` old while requests arrive. */
  isFull(): boolean;
}

export interface OutboxGaugeOptions {
  readonly db: Queryable;
  /** Number of waiting events at which the outbox is full. */
  readonly limit: number;
  readonly everyMs: number;
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
}

const Count = z.tuple([z.object({ waiting: z.int() })]);

/**
 * Creates a gauge. An estimate suffices, because the limit only protects the disk. A call measures
 * in the background, so an idle process sends no query.
 */
export function createOutboxGauge({ db, limit, everyMs, monotonic }: OutboxGaugeOptions): OutboxGauge {
  let full = false;
  let looking = false;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const look = async (): Promise<void> => {
    looking = true;
    try {
      const { rows } = await db.query({
        name: 'outbox_gauge',
        text: 'select coalesce(sum(w.count), 0) as waiting from (select count from event_log.waiting limit $1) w',
        values: [limit],
      });
      full = Count.parse(rows)[0].waiting >= limit;
    } catch {
      // The admission itself detects and reports an unreachable database.
    } finally {
      looking = false;
      lookedAt = monotonic();
    }
  };
  return {
    isFull: () => {
      if (!looking && monotonic() - lookedAt >= everyMs) void look();
      return full;
    },
  };
}

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

/** Knows from the admission groups whether the database accepts writes of this process. */
export interface WriteWatch extends ReadinessSource {
  /** Sends a group, and remembers its outcome. @throws the error of `send` */
  around<T>(send: () => Promise<T>): Promise<T>;
}

export interface WriteWatchOptions {
  /** A handle in the role `consent_ledger_api`. */
  readonly db: Pick<pg.Pool, 'query'>;
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
  /** Age up to which a successful write counts as proof, in milliseconds. */
  readonly provenMs?: number;
}

const PROVEN_MS = 10_000;
/** Nonces per probe: they need as much space as several consents, and more than a partly filled page has. */
const ROWS_AFTER_FAILURE = 1_000;

// Every group writes nonces, and they are deleted after minutes.
const PROBE = `insert into nonces (digest, slot)
  select decode(replace(gen_random_uuid()::text, '-', ''), 'hex'), g.slot
    from admission_generations g, generate_series(1, $1) where g.kind = 'nonces'`;

/**
 * Creates the watch. While groups are stored, it costs nothing. Otherwise `check` writes a row itself, at most once in
 * `provenMs`. After a failed group it writes every time, and more rows: they must not fit into a partly filled page,
 * because a full disk only refuses a table that has to grow.
 */
export function createWriteWatch({ db, monotonic, provenMs = PROVEN_MS }: WriteWatchOptions): WriteWatch {
  let provenAt = Number.NEGATIVE_INFINITY;
  let hasFailed = false;

  const around = async <T>(write: () => Promise<T>): Promise<T> => {
    try {
      const result = await write();
      provenAt = monotonic();
      hasFailed = false;
      return result;
    } catch (error) {
      // A single request must not be able to make the process unready.
      if (!isItemFault(error)) hasFailed = true;
      throw error;
    }
  };
  return {
    name: 'writes',
    around,
    check: async () => {
      if (!hasFailed && monotonic() - provenAt < provenMs) return [];
      const rows = hasFailed ? ROWS_AFTER_FAILURE : 1;
      await around(() => db.query(PROBE, [rows])).catch((error: unknown) => {
        // Whatever its code, a failure of the probe is a failure of the database.
        hasFailed = true;
        throw error;
      });
      return [];
    },
    ifUnknown: (error) => (isConnectionFailure(error) ? 'database_away' : 'writes_failing'),
  };
}
