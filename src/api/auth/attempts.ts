import { type RateLimiter, refuseExcess } from '../guards/rate-limiter.js';
import { apiErrorOf } from '../server/error-response.js';

/** A limit on failed attempts per minute. */
export interface AttemptLimit {
  /** Name of the attempted action, e.g. `sign-in-account`. */
  readonly scope: string;
  /** The address or the account whose attempts are counted. */
  readonly key: string;
  readonly limit: number;
}

/**
 * Makes an attempt with a password, which can be guessed. Each attempt is counted before it is made; otherwise
 * simultaneous ones would all get through. A successful attempt is given back, so that it cannot lock the user out.
 * @throws ApiError TOO_MANY_SIGN_IN_ATTEMPTS; what `attempt` throws
 */
export async function countFailures<T>(
  rateLimiter: RateLimiter,
  limits: readonly AttemptLimit[],
  attempt: () => Promise<T>,
): Promise<T> {
  for (const { scope, key, limit } of limits) {
    refuseExcess(await rateLimiter.take(scope, key, limit), 'TOO_MANY_SIGN_IN_ATTEMPTS');
  }
  const result = await attempt().catch(async (error: unknown) => {
    if (!isRefusal(error)) await giveBack(rateLimiter, limits);
    throw error;
  });
  await giveBack(rateLimiter, limits);
  return result;
}

/**
 * Makes an attempt with a token of 256 random bits, which cannot be guessed. Only failures count and only failures are
 * refused, so clients that share an address with an attacker can still renew.
 * @throws ApiError TOO_MANY_SIGN_IN_ATTEMPTS; what `attempt` throws
 */
export async function throttleFailures<T>(
  rateLimiter: RateLimiter,
  { scope, key, limit }: AttemptLimit,
  attempt: () => Promise<T>,
): Promise<T> {
  return attempt().catch(async (error: unknown) => {
    if (isRefusal(error)) refuseExcess(await rateLimiter.take(scope, key, limit), 'TOO_MANY_SIGN_IN_ATTEMPTS');
    throw error;
  });
}

/** Returns whether the client caused the failure. A failure of the service does not count as a guess. */
function isRefusal(error: unknown): boolean {
  const told = apiErrorOf(error);
  return told !== null && told.status < 500;
}

async function giveBack(rateLimiter: RateLimiter, limits: readonly AttemptLimit[]): Promise<void> {
  for (const { scope, key } of limits) await rateLimiter.giveBack(scope, key);
}
