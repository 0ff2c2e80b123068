import { setTimeout as delay } from 'node:timers/promises';
import type { StatedTime } from './acceptance.js';
import { AnswerCache } from './answer-cache.js';
import { type AuthorityHealth, afterFailure, HEALTHY, whomToAsk } from './back-off.js';
import type { Context, ObtainedTimestamp, TimestampClientOptions } from './client-options.js';
import { AuthorityFailure, TimestampUnavailable } from './errors.js';
import { stampWith } from './stamping.js';

export type { ObserveAsking, ObtainedTimestamp, TimestampClientOptions } from './client-options.js';

export interface TimestampClient {
  /**
   * Obtains a time stamp from the first authority that returns a valid token.
   *
   * @param data the exact bytes to stamp; may be empty
   * @param options.previous the newest existing token: the new one must not precede it
   * @throws TimestampUnavailable if no authority returned a valid token, or all of them are paused
   */
  stamp(
    data: Uint8Array,
    options?: { readonly previous?: StatedTime; readonly signal?: AbortSignal },
  ): Promise<ObtainedTimestamp>;
}

/**
 * Creates a client of time-stamping authorities (RFC 3161 over HTTP, §3.4). It remembers failed
 * authorities and caches revocation responses, both in memory only.
 * @throws TypeError without an authority
 */
export function createTimestampClient(options: TimestampClientOptions): TimestampClient {
  const {
    authorities,
    backOff = { firstMs: 5000, longestMs: 600_000 },
    clock = () => new Date(),
    sleep = async (milliseconds) => delay(milliseconds),
    fetch = globalThis.fetch,
    random = Math.random,
    timeoutMs = 20_000,
    observe = (_authority, ask) => ask(),
  } = options;
  if (authorities.length === 0) throw new TypeError('a time stamp client needs at least one authority');
  const health = new Map<string, AuthorityHealth>();
  const cache = new AnswerCache(64, 32 * 1024 * 1024);
  const context: Context = { ...options, clock, sleep, fetch, timeoutMs, cache };

  return {
    async stamp(data, { previous, signal } = {}) {
      const known = authorities.map((url) => ({ url, health: health.get(url) ?? HEALTHY }));
      const { ask, nextAt } = whomToAsk(known, clock().getTime());
      const failures: { authority: string; reason: string }[] = [];
      for (const { url, health: before } of ask) {
        signal?.throwIfAborted();
        try {
          const stamp = await observe(new URL(url).host, () => stampWith(url, data, previous, signal, context));
          health.delete(url);
          return stamp;
        } catch (error) {
          if (!(error instanceof AuthorityFailure)) throw error;
          failures.push({ authority: url, reason: error.message });
          health.set(url, afterFailure(before, clock().getTime(), backOff, random()));
        }
      }
      const states = authorities.map((url) => ({ health: health.get(url) ?? HEALTHY }));
      const retryAt = nextAt ?? whomToAsk(states, clock().getTime()).nextAt ?? clock().getTime();
      throw new TimestampUnavailable(failures, new Date(retryAt));
    },
  };
}
