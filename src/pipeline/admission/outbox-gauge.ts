import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';

/** Reports approximately whether too many events wait for the event log. */
export interface OutboxGauge {
  /**
   * Returns the result of the last measurement, at most about `everyMs` old while requests arrive.
   */
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
