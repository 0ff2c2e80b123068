import type { Queryable } from '../../platform/database/pool.js';

/**
 * Collects the times at which API keys are used, and writes them in batches, so that a request
 * needs no statement for it.
 */
export interface KeyUsage {
  /** Notes that a key is used now. */
  note(keyId: string): void;
  /**
   * Writes the times that were noted since the last call. After an error, they are kept for the
   * next call.
   * @throws database errors
   */
  flush(): Promise<void>;
}

const MINUTE_MS = 60_000;

/**
 * Creates the collector.
 * @param db may UPDATE `api_keys.last_used_at`
 * @param now clock in milliseconds since 1970
 */
export function createKeyUsage(db: Queryable, now: () => number): KeyUsage {
  let noted = new Map<string, number>();
  return {
    // The map has one entry per key in use, so that its size is bounded by the number of keys.
    note: (keyId) => {
      noted.set(keyId, now());
    },
    flush: async () => {
      if (noted.size === 0) return;
      const taken = noted;
      noted = new Map();
      try {
        await db.query(
          `update api_keys k set last_used_at = u.at
             from (select * from unnest($1::uuid[], $2::timestamptz[]) as u (id, at) order by id) u
            where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at)`,
          [[...taken.keys()], [...taken.values()].map((at) => new Date(Math.floor(at / MINUTE_MS) * MINUTE_MS))],
        );
      } catch (error) {
        for (const [keyId, at] of taken) if (!noted.has(keyId)) noted.set(keyId, at);
        throw error;
      }
    },
  };
}
