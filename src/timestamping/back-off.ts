/** How an authority has been doing. */
export interface AuthorityHealth {
  /** Failures in a row. */
  readonly failures: number;
  /** Milliseconds since 1970 before which it is not asked again. */
  readonly notBefore: number;
}

/** First pause after a failure, and the longest one; it doubles in between. */
export interface BackOffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

export const HEALTHY: AuthorityHealth = { failures: 0, notBefore: 0 };

/**
 * An authority's health after one more failure.
 * @param jitter in [0, 1): spreads the pauses of several installations over the last quarter
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
 * Which authorities to ask now, in which order: those that may be asked, in the configured order.
 * @returns when nobody may be asked, the moment at which the first may be
 */
export function whomToAsk<T extends { readonly health: AuthorityHealth }>(
  authorities: readonly T[],
  now: number,
): { readonly ask: readonly T[]; readonly nextAt: number | undefined } {
  const ask = authorities.filter(({ health }) => health.notBefore <= now);
  const nextAt = ask.length > 0 ? undefined : Math.min(...authorities.map(({ health }) => health.notBefore));
  return { ask, nextAt };
}
