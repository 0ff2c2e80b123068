import type { FastifyReply } from 'fastify';
import { ApiError, type ErrorCode } from '../../../schemas/api/error-codes.js';
import type { RateLimitDecision } from './rate-limiter.js';

const WINDOW_SECONDS = 60;

/**
 * Tells a caller where it stands: the X-RateLimit headers of the Tool API, and those of the IETF
 * draft beside them.
 */
export function setRateLimitHeaders(reply: FastifyReply, { limit, remaining, resetSeconds }: RateLimitDecision): void {
  reply.header('x-ratelimit-limit', limit);
  reply.header('x-ratelimit-remaining', remaining);
  reply.header('ratelimit-policy', `"minute";q=${limit};w=${WINDOW_SECONDS}`);
  reply.header('ratelimit', `"minute";r=${remaining};t=${resetSeconds}`);
}

/** @throws ApiError with Retry-After if the request is not allowed */
export function refuseExcess(decision: RateLimitDecision, code: ErrorCode): void {
  if (!decision.allowed) throw new ApiError(code, undefined, { retryAfterSeconds: decision.resetSeconds });
}
