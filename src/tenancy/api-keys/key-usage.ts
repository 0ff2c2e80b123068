import type { Queryable } from '../../platform/database/pool.js';

/** Collects the times at which API keys are used and writes them together, so that requests need no extra statement. */
export interface KeyUsage {
  /**
   * Notes that a key is used now.
   * @param liveHost host of a page with a test key that real visitors may use
   */
  note(keyId: string, liveHost?: string): void;
  /**
   * Writes the times that were noted since the last call. After an error, they are kept for the
   * next call.
   * @throws database errors
   */
  flush(): Promise<void>;
}

const MINUTE_MS = 60_000;

interface Noted {
  readonly at: number;
  readonly liveHost: string | null;
}

/**
 * Creates the collector.
 * @param db a handle that may UPDATE the marks of use of `api_keys`
 * @param now clock in milliseconds since 1970
 */
export function createKeyUsage(db: Queryable, now: () => number): KeyUsage {
  let noted = new Map<string, Noted>();
  return {
    // The map has one entry per key in use, so that its size is bounded by the number of keys.
    note: (keyId, liveHost) => {
      noted.set(keyId, { at: now(), liveHost: liveHost ?? noted.get(keyId)?.liveHost ?? null });
    },
    flush: async () => {
      if (noted.size === 0) return;
      const taken = noted;
      noted = new Map();
      const uses = [...taken.values()];
      try {
        await db.query(
          `update api_keys k
              set last_used_at = u.at, live_host = coalesce(u.host, k.live_host),
                  live_seen_at = case when u.host is null then k.live_seen_at else u.at end
             from (select * from unnest($1::uuid[], $2::timestamptz[], $3::text[]) as u (id, at, host) order by id) u
            where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.at or u.host <> coalesce(k.live_host, ''))`,
          [
            [...taken.keys()],
            uses.map(({ at }) => new Date(Math.floor(at / MINUTE_MS) * MINUTE_MS)),
            uses.map(({ liveHost }) => liveHost),
          ],
        );
      } catch (error) {
        for (const [keyId, use] of taken) if (!noted.has(keyId)) noted.set(keyId, use);
        throw error;
      }
    },
  };
}
