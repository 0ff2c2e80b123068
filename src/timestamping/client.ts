import { setTimeout as delay } from 'node:timers/promises';
import type { StatedTime } from './authorities.js';
import { AnswerCache } from './revocation.js';
import {
  AuthorityFailure,
  type Context,
  type ObtainedTimestamp,
  stampWith,
  type TimestampClientOptions,
  TimestampUnavailable,
} from './stamping.js';

export type { ObserveAsking, ObtainedTimestamp, TimestampClientOptions } from './stamping.js';

export interface TimestampClient {
  /**
   * Obtains a time stamp from the first authority that returns a valid token.
   *
   * @param data the exact bytes to stamp; may be empty
   * @param options.previous the newest existing token: the new one must not precede it
   * @param options.exclude organizations whose time stamps already exist; a response of one of them is ignored
   * @throws TimestampUnavailable if no other authority returned a valid token, or all of them are
   *   paused
   */
  stamp(
    data: Uint8Array,
    options?: {
      readonly previous?: StatedTime;
      readonly signal?: AbortSignal;
      readonly exclude?: readonly string[];
    },
  ): Promise<ObtainedTimestamp>;
}

/**
 * Creates a client of time stamp authorities (RFC 3161 over HTTP, §3.4). It remembers failed
 * authorities and the organization of each, and caches revocation responses, all in memory only.
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
  // An authority that is known to be excluded is not asked, because it may charge for each response.
  const organizations = new Map<string, string>();
  const cache = new AnswerCache(64, 32 * 1024 * 1024);
  const context: Context = { ...options, clock, sleep, fetch, timeoutMs, cache };

  return {
    async stamp(data, { previous, signal, exclude = [] } = {}) {
      const isExcluded = (url: string): boolean => exclude.includes(organizations.get(url) ?? '');
      const failures: { authority: string; reason: string }[] = [];
      const refuse = (url: string): void => {
        failures.push({ authority: url, reason: `has stamped this already, as ${organizations.get(url)}` });
      };
      for (const url of authorities.filter(isExcluded)) refuse(url);
      const healthOf = (urls: readonly string[]) => urls.map((url) => ({ url, health: health.get(url) ?? HEALTHY }));
      const others = authorities.filter((url) => !isExcluded(url));
      const { ask, nextAt } = whomToAsk(healthOf(others), clock().getTime(), backOff);
      if (nextAt !== undefined && failures.length > 0)
        for (const url of others)
          failures.push({ authority: url, reason: `pauses until ${new Date(nextAt).toISOString()} at least` });
      for (const { url, health: before } of ask) {
        signal?.throwIfAborted();
        try {
          const stamp = await observe(new URL(url).host, () => stampWith(url, data, previous, signal, context));
          health.delete(url);
          organizations.set(url, stamp.organization);
          if (!isExcluded(url)) return stamp;
          refuse(url);
        } catch (error) {
          if (!(error instanceof AuthorityFailure)) throw error;
          failures.push({ authority: url, reason: error.message });
          health.set(url, afterFailure(before, clock().getTime(), backOff, random()));
        }
      }
      const retryAt = nextAt ?? whomToAsk(healthOf(others), clock().getTime(), backOff).nextAt ?? clock().getTime();
      throw new TimestampUnavailable(failures, new Date(Number.isFinite(retryAt) ? retryAt : clock().getTime()));
    },
  };
}

/** Recent failures of an authority. */
interface AuthorityHealth {
  /** Consecutive failures. */
  readonly failures: number;
  /** Unix milliseconds before which it receives no request. */
  readonly notBefore: number;
}

/**
 * The first pause after a failure, and the longest one, in milliseconds. The pause doubles with
 * each failure.
 */
export interface BackOffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

export const HEALTHY: AuthorityHealth = { failures: 0, notBefore: 0 };

/**
 * Returns the health of an authority after another failure.
 * @param now Unix milliseconds
 * @param jitter a number in [0, 1) that spreads the pauses of several installations over the last quarter
 */
export function afterFailure(
  health: AuthorityHealth,
  now: number,
  limits: BackOffLimits,
  jitter: number,
): AuthorityHealth {
  const failures = health.failures + 1;
  const pause = Math.min(limits.firstMs * 2 ** Math.min(failures - 1, 30), limits.longestMs);
  return { failures, notBefore: now + Math.round(pause * (0.75 + 0.25 * jitter)) };
}

/**
 * Selects the authorities to ask now, in the configured order.
 * @returns the authorities without a pause; if there are none, also the time at which the first
 *   pause ends (Unix milliseconds)
 */
export function whomToAsk<T extends { readonly health: AuthorityHealth }>(
  authorities: readonly T[],
  now: number,
  { longestMs }: Pick<BackOffLimits, 'longestMs'>,
): { readonly ask: readonly T[]; readonly nextAt: number | undefined } {
  // A clock that runs ahead makes every authority fail, and the pauses that it sets would last until that time comes.
  const ask = authorities.filter(({ health }) => health.notBefore <= now || health.notBefore > now + longestMs);
  const nextAt = ask.length > 0 ? undefined : Math.min(...authorities.map(({ health }) => health.notBefore));
  return { ask, nextAt };
}
