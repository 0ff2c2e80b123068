import { z } from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { createGroupCommitter } from '../../pipeline/admission/group-committer.js';
import { byteaArray, int4Array } from '../../platform/database/binary-arrays.js';
import type { Queryable } from '../../platform/database/pool.js';
import { hmacSha256 } from '../../platform/keys/index.js';

export interface RateLimitDecision {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests that remain in this window after this one. */
  readonly remaining: number;
  /** Whole seconds until the next window starts, 1 to 60. */
  readonly resetSeconds: number;
}

/** Counts requests in one-minute windows of the database's clock, exactly across all processes. */
export interface RateLimiter {
  /**
   * Takes one request from the window of `(scope, key)`.
   * @param scope name of the limit, e.g. `site`, `invalid-key`
   * @param key limited party, e.g. a site id or an IP address; only a keyed hash of it is stored
   * @param limit requests per minute
   * @throws ApiError SERVICE_UNAVAILABLE if the database is unavailable
   */
  take(scope: string, key: string, limit: number): Promise<RateLimitDecision>;
  /**
   * Returns the decision of `take` without taking. It serves limits on failures, which are counted
   * only when they occur.
   * @throws ApiError SERVICE_UNAVAILABLE
   */
  peek(scope: string, key: string, limit: number): Promise<RateLimitDecision>;
  /**
   * Returns one request to the current window. It serves limits on failures, when there was no
   * failure.
   * @throws ApiError SERVICE_UNAVAILABLE
   */
  giveBack(scope: string, key: string): Promise<void>;
  /** Deletes windows that ended minutes ago. Any process calls it periodically. */
  sweep(): Promise<void>;
}

export interface RateLimiterOptions {
  readonly db: Queryable;
  /**
   * Key of the hashes: IP addresses and e-mail addresses are personal data. All processes have the
   * same key.
   */
  readonly hashKey: Uint8Array;
}

interface Take {
  readonly bucket: string;
  readonly limit: number;
  readonly cost: -1 | 0 | 1;
}

const Rows = z.array(z.object({ used: z.int(), reset_seconds: z.int() }));

const RETRY_AFTER_SECONDS = 2;
const MAX_WAITING = 20_000;
const BUCKET_BYTES = 16;

/**
 * Creates a limiter. It collects the requests that arrive during one statement and sends them with
 * the next one.
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const unavailable = (cause?: unknown): ApiError => {
    const error = new ApiError('SERVICE_UNAVAILABLE', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    error.cause = cause;
    return error;
  };
  const committer = createGroupCommitter<Take, RateLimitDecision>({
    send: (takes) => sendTakes(options, takes),
    keysOf: () => [],
    weightOf: () => 1,
    maxItems: 1000,
    maxWeight: 1000,
    maxInFlight: 1,
    maxWaiting: MAX_WAITING,
    overloaded: unavailable,
    isItemFault: () => false,
  });
  const submit = async (take: Take): Promise<RateLimitDecision> => {
    try {
      return await committer.submit(take);
    } catch (error) {
      throw error instanceof ApiError ? error : unavailable(error);
    }
  };
  return {
    take: (scope, key, limit) => submit({ bucket: `${scope}\0${key}`, limit, cost: 1 }),
    peek: (scope, key, limit) => submit({ bucket: `${scope}\0${key}`, limit, cost: 0 }),
    giveBack: async (scope, key) => {
      await submit({ bucket: `${scope}\0${key}`, limit: 0, cost: -1 });
    },
    sweep: async () => {
      await options.db.query('select sweep_rate_limits()');
    },
  };
}

interface Bucket {
  readonly hash: Buffer;
  cost: number;
}

/** Counts the requests of one bucket with one row, and grants them in order of arrival. */
async function sendTakes(options: RateLimiterOptions, takes: readonly Take[]): Promise<RateLimitDecision[]> {
  const buckets = new Map<string, Bucket>();
  for (const { bucket, cost } of takes) {
    const known = buckets.get(bucket);
    if (known === undefined) buckets.set(bucket, { hash: bucketHash(options.hashKey, bucket), cost });
    else known.cost += cost;
  }
  // All processes use the same order, so that two statements cannot deadlock.
  const sorted = [...buckets.entries()].sort(([, a], [, b]) => Buffer.compare(a.hash, b.hash));
  const { rows } = await options.db.query({
    name: 'take_rate_limits',
    text: 'select used, reset_seconds from take_rate_limits($1, $2)',
    values: [byteaArray(sorted.map(([, b]) => b.hash)), int4Array(sorted.map(([, b]) => b.cost))],
  });
  const answers = Rows.parse(rows);
  const before = new Map(
    sorted.map(([name, bucket], index) => {
      const answer = answers[index];
      if (answer === undefined) throw new Error('the database answered for fewer buckets than were asked');
      return [name, { used: answer.used - bucket.cost, resetSeconds: answer.reset_seconds }];
    }),
  );
  return takes.map(({ bucket, limit, cost }) => {
    const window = before.get(bucket);
    if (window === undefined) throw new Error('a bucket has no answer');
    const allowed = window.used < limit;
    window.used += cost;
    return { allowed, limit, remaining: Math.max(0, limit - window.used), resetSeconds: window.resetSeconds };
  });
}

function bucketHash(hashKey: Uint8Array, bucket: string): Buffer {
  return hmacSha256(hashKey, bucket).subarray(0, BUCKET_BYTES);
}
