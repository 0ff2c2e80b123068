import type { FastifyReply } from 'fastify';
import * as z from 'zod';
import { ApiError, type ErrorCode } from '../../../schemas/api/error-codes.js';
import { createGroupCommitter } from '../../pipeline/admission/group-committer.js';
import { byteaArray, int4Array } from '../../platform/database/parameters.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused, serviceUnavailable } from '../../platform/errors.js';
import { hmacSha256 } from '../../platform/keys/index.js';

export interface RateLimitDecision {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests that are left after this one. */
  readonly remaining: number;
  /** Whole seconds until the oldest counted request no longer counts, 1 to 61. */
  readonly resetSeconds: number;
}

/**
 * Counts requests by the database's clock, exactly and across all processes. In no span of 60 seconds do more requests
 * pass than the limit. Refused requests do not count.
 */
export interface RateLimiter {
  /**
   * Takes requests from the limit of `(scope, key)`, all or none.
   * @param scope name of the limit, e.g. `site`, `invalid-key`
   * @param key the party that the limit applies to, e.g. a site id or an IP address; only a keyed hash is stored
   * @param limit requests per minute
   * @param count number of requests to take; more than the limit are never granted
   * @throws RequestRefused SERVICE_UNAVAILABLE if the database is unavailable
   */
  take(scope: string, key: string, limit: number, count?: number): Promise<RateLimitDecision>;
  /**
   * Returns what `take` would decide, without taking. For limits on failures, which are counted only when they occur.
   * @throws RequestRefused SERVICE_UNAVAILABLE
   */
  peek(scope: string, key: string, limit: number): Promise<RateLimitDecision>;
  /**
   * Gives back the newest requests. For limits on failures, after an attempt that did not fail.
   * @throws RequestRefused SERVICE_UNAVAILABLE
   */
  giveBack(scope: string, key: string, count?: number): Promise<void>;
  /** Deletes windows whose requests no longer count. Any process may call it periodically. */
  sweep(): Promise<void>;
}

export interface RateLimiterOptions {
  readonly db: Queryable;
  /**
   * Key of the hashes, because IP addresses and e-mail addresses are personal data. All processes have the same key.
   */
  readonly hashKey: Uint8Array;
}

interface Take {
  readonly bucket: string;
  readonly limit: number;
  /** Negative if requests are given back. */
  readonly cost: number;
}

const Rows = z.array(z.object({ granted: z.int(), used: z.int(), reset_seconds: z.int() }));

const MAX_WAITING = 20_000;
const BUCKET_BYTES = 16;

/**
 * Creates a limiter. It collects the requests that arrive while a statement runs, and sends them with the next
 * statement.
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const committer = createGroupCommitter<Take, RateLimitDecision>({
    send: (takes) => sendTakes(options, takes),
    keysOf: () => [],
    weightOf: () => 1,
    maxItems: 1000,
    maxWeight: 1000,
    maxInFlight: 1,
    maxWaiting: MAX_WAITING,
    overloaded: serviceUnavailable,
    isItemFault: () => false,
  });
  const submit = async (take: Take): Promise<RateLimitDecision> => {
    try {
      return await committer.submit(take);
    } catch (error) {
      throw error instanceof RequestRefused ? error : serviceUnavailable({ cause: error });
    }
  };
  return {
    take: (scope, key, limit, count = 1) => submit({ bucket: `${scope}\0${key}`, limit, cost: count }),
    peek: (scope, key, limit) => submit({ bucket: `${scope}\0${key}`, limit, cost: 0 }),
    giveBack: async (scope, key, count = 1) => {
      await submit({ bucket: `${scope}\0${key}`, limit: 0, cost: -count });
    },
    sweep: async () => {
      await options.db.query('select sweep_rate_limits()');
    },
  };
}

interface Bucket {
  readonly hash: Buffer;
  limit: number;
  asked: number;
  returned: number;
}

/** What is left of one bucket's grant while its requests are answered. */
interface Window {
  granted: number;
  remaining: number;
  readonly resetSeconds: number;
}

/** Counts the requests of one bucket with one row, and grants them in order of arrival. */
async function sendTakes(options: RateLimiterOptions, takes: readonly Take[]): Promise<RateLimitDecision[]> {
  const buckets = new Map<string, Bucket>();
  for (const { bucket, limit, cost } of takes) {
    let known = buckets.get(bucket);
    if (known === undefined) {
      known = { hash: bucketHash(options.hashKey, bucket), limit, asked: 0, returned: 0 };
      buckets.set(bucket, known);
    }
    // A plan may have changed between two requests, and requests that are given back state no limit.
    known.limit = Math.max(known.limit, limit);
    if (cost > 0) known.asked += cost;
    else known.returned -= cost;
  }
  // All processes lock rows in this order, so that two statements cannot deadlock.
  const sorted = [...buckets.entries()].sort(([, a], [, b]) => Buffer.compare(a.hash, b.hash));
  const { rows } = await options.db.query({
    name: 'take_rate_limits',
    text: 'select granted, used, reset_seconds from take_rate_limits($1, $2, $3, $4)',
    values: [
      byteaArray(sorted.map(([, b]) => b.hash)),
      int4Array(sorted.map(([, b]) => b.asked)),
      int4Array(sorted.map(([, b]) => b.returned)),
      int4Array(sorted.map(([, b]) => b.limit)),
    ],
  });
  const answers = Rows.parse(rows);
  const windows = new Map(
    sorted.map(([name, { limit }], index): [string, Window] => {
      const answer = answers[index];
      if (answer === undefined) throw new Error('the database answered for fewer buckets than were asked');
      const { granted, used, reset_seconds: resetSeconds } = answer;
      return [name, { granted, remaining: Math.max(0, limit - used) + granted, resetSeconds }];
    }),
  );
  const decisions = takes.map(({ bucket, limit, cost }) => {
    const window = windows.get(bucket);
    if (window === undefined) throw new Error('a bucket has no answer');
    const allowed = cost > 0 ? window.granted >= cost : window.remaining > 0;
    if (cost > 0 && allowed) {
      window.granted -= cost;
      window.remaining -= cost;
    }
    return { allowed, limit, remaining: window.remaining, resetSeconds: window.resetSeconds };
  });
  // Granted to a request that needs more than was left and is therefore refused.
  const unused = [...windows].flatMap(([bucket, { granted }]) =>
    granted > 0 ? [{ bucket, limit: 0, cost: -granted }] : [],
  );
  if (unused.length > 0) await sendTakes(options, unused);
  return decisions;
}

function bucketHash(hashKey: Uint8Array, bucket: string): Buffer {
  return hmacSha256(hashKey, bucket).subarray(0, BUCKET_BYTES);
}

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
