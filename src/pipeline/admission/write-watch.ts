import type pg from 'pg';
import { isConnectionFailure } from '../../platform/database/errors.js';
import type { ReadinessSource } from '../../platform/health.js';
import { isItemFault } from './database-failure.js';

/** Knows whether the database takes what this process writes: from its admission groups. */
export interface WriteWatch extends ReadinessSource {
  /** Sends a group, and remembers its outcome. @throws the error of `send` */
  around<T>(send: () => Promise<T>): Promise<T>;
}

export interface WriteWatchOptions {
  /** In the role `consent_ledger_api`. */
  readonly db: Pick<pg.Pool, 'query'>;
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
  /** Age up to which a write that succeeded is proof enough, in milliseconds. */
  readonly provenMs?: number;
}

const PROVEN_MS = 10_000;
/** Nonces of one probe: as much room as several consents need, and more than a page that is open has. */
const ROWS_AFTER_FAILURE = 1_000;

// Nonces are what every group writes, and are forgotten after minutes.
const PROBE = `insert into nonces (digest, slot)
  select decode(replace(gen_random_uuid()::text, '-', ''), 'hex'), g.slot
    from admission_generations g, generate_series(1, $1) where g.kind = 'nonces'`;

/**
 * Creates the watch. While groups are stored it costs nothing. Otherwise `check` writes a row itself,
 * however often it is called once in `provenMs`; after a group failed each time, and more rows: what
 * is written then must not fit into a page that is half empty, because a full disk refuses only a
 * table that has to grow.
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
      // One request must not be able to make the process unready.
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
        // A failure of the probe is one of the database, whatever its code.
        hasFailed = true;
        throw error;
      });
      return [];
    },
    ifUnknown: (error) => (isConnectionFailure(error) ? 'database_away' : 'writes_failing'),
  };
}
