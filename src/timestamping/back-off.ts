/** Recent failures of an authority. */
export interface AuthorityHealth {
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
 * The health of an authority after another failure.
 * @param now Unix milliseconds
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
 * Selects the authorities to ask now, in the configured order.
 * @returns the authorities without a pause; if there are none, also the time at which the first
 *   pause ends (Unix milliseconds)
 */
export function whomToAsk<T extends { readonly health: AuthorityHealth }>(
  authorities: readonly T[],
  now: number,
  { longestMs }: Pick<BackOffLimits, 'longestMs'>,
): { readonly ask: readonly T[]; readonly nextAt: number | undefined } {
  // A clock that was ahead makes every authority fail, and its pauses would last until that time comes.
  const ask = authorities.filter(({ health }) => health.notBefore <= now || health.notBefore > now + longestMs);
  const nextAt = ask.length > 0 ? undefined : Math.min(...authorities.map(({ health }) => health.notBefore));
  return { ask, nextAt };
}
