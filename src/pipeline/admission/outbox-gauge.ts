import { z } from 'zod';
import type { Queryable } from '../../platform/database/pool.js';

/** Tells roughly whether too many events wait for the log. */
export interface OutboxGauge {
  /** As of the last look, at most about `everyMs` old while requests come. */
  isFull(): boolean;
}

export interface OutboxGaugeOptions {
  readonly db: Queryable;
  /** Waiting events from which on the outbox is full. */
  readonly limit: number;
  readonly everyMs: number;
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
}

const Count = z.tuple([z.object({ waiting: z.int() })]);

/**
 * An estimate is enough: the limit protects the disk, and is no promise to anyone. It looks again in the background when it is asked, so an idle
 * process asks nothing of the database.
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
        text: 'select count(*) as waiting from (select from outbox where revision is null limit $1) w',
        values: [limit],
      });
      full = Count.parse(rows)[0].waiting >= limit;
    } catch {
      // An unreachable database is found out, and told, by the admission itself.
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
