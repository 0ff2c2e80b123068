import type { FastifyReply } from 'fastify';
import { ApiError, type ErrorCode } from '../../../schemas/api/error-codes.js';
import type { RateLimitDecision } from './rate-limiter.js';

const WINDOW_SECONDS = 60;

/** Sets the X-RateLimit headers of the Tool API, and the RateLimit headers of the IETF draft. */
export function setRateLimitHeaders(reply: FastifyReply, { limit, remaining, resetSeconds }: RateLimitDecision): void {
  reply.header('x-ratelimit-limit', limit);
  reply.header('x-ratelimit-remaining', remaining);
  reply.header('ratelimit-policy', `"minute";q=${limit};w=${WINDOW_SECONDS}`);
  reply.header('ratelimit', `"minute";r=${remaining};t=${resetSeconds}`);
}

/** Refuses a request over the limit. @throws ApiError with the given code and Retry-After */
export function refuseExcess(decision: RateLimitDecision, code: ErrorCode): void {
  if (!decision.allowed) throw new ApiError(code, undefined, { retryAfterSeconds: decision.resetSeconds });
}
