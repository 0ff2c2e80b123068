import type { Queryable } from '../../platform/database/pool.js';

/** Remembers when API keys are used, and writes it down now and then: a request costs no statement for it. */
export interface KeyUsage {
  /** Notes that a key was used now. */
  note(keyId: string): void;
  /** Writes what was noted since the last time. What cannot be written is kept for the next time. */
  flush(): Promise<void>;
}

const MINUTE_MS = 60_000;

/**
 * @param db may UPDATE `api_keys.last_used_at`
 * @param now milliseconds since 1970
 */
export function createKeyUsage(db: Queryable, now: () => number): KeyUsage {
  let noted = new Map<string, number>();
  return {
    // One entry for each key in use: there are no more of them than keys.
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
