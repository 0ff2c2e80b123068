import type { FastifyRequest } from 'fastify';
import { ipBytes } from '../../platform/net/ip-bytes.js';
import { refuseExcess } from '../guards/rate-limit.js';
import type { RateLimiter } from '../guards/rate-limiter.js';
import { apiErrorOf } from '../server/error-response.js';

/** Failed attempts a minute, counted for whom. */
export interface AttemptLimit {
  /** What is attempted, e.g. `sign-in-account`. */
  readonly scope: string;
  /** By whom, or on whom. */
  readonly key: string;
  readonly limit: number;
}

/**
 * Makes an attempt with a password, which can be guessed. It counts before it is made, or many at once would all be tried; one that succeeds is given
 * back, so that nobody is locked out by what they may do.
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
 * Makes an attempt with a token of 256 random bits, which nobody guesses. Only failures count, and only they are refused: whoever shares an address with
 * somebody who tries keeps on renewing.
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

/** A failure of ours is nobody's guess. */
function isRefusal(error: unknown): boolean {
  const told = apiErrorOf(error);
  return told !== null && told.status < 500;
}

async function giveBack(rateLimiter: RateLimiter, limits: readonly AttemptLimit[]): Promise<void> {
  for (const { scope, key } of limits) await rateLimiter.giveBack(scope, key);
}

const IPV6_NETWORK_BYTES = 8;

/** An IPv4 address, or the /64 network of an IPv6 address: whoever has one such network has all of its addresses. */
export function addressKey(request: Pick<FastifyRequest, 'ip'>): string {
  const bytes = ipBytes(request.ip);
  if (bytes === null) return request.ip;
  return Buffer.from(bytes.length === 4 ? bytes : bytes.subarray(0, IPV6_NETWORK_BYTES)).toString('hex');
}
