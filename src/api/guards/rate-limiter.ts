import { z } from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { byteaArray, int4Array } from '../../pipeline/admission/binary-arrays.js';
import { createGroupCommitter } from '../../pipeline/admission/group-committer.js';
import type { Queryable } from '../../platform/database/pool.js';
import { hmacSha256 } from '../../platform/keys/index.js';

export interface RateLimitDecision {
  readonly allowed: boolean;
  readonly limit: number;
  /** What is left in this window after this request. */
  readonly remaining: number;
  /** Whole seconds until the next window begins, 1 to 60. */
  readonly resetSeconds: number;
}

/** Counts requests in windows of one minute by the database's clock, exactly over all processes. */
export interface RateLimiter {
  /**
   * Takes one of `limit` from the window of `(scope, key)`.
   * @param scope what is limited, e.g. `site`, `invalid-key`
   * @param key of whom, e.g. a site id or an IP address; only a keyed hash of it is stored
   * @param limit requests a minute
   * @throws ApiError SERVICE_UNAVAILABLE if the database does not answer
   */
  take(scope: string, key: string, limit: number): Promise<RateLimitDecision>;
  /**
   * What `take` would find, without taking: for a limit on failures, which are only counted when
   * they happen.
   * @throws ApiError SERVICE_UNAVAILABLE
   */
  peek(scope: string, key: string, limit: number): Promise<RateLimitDecision>;
  /**
   * Gives back one that was taken, in the window that is open now: for a limit on failures, when
   * there was none. @throws ApiError SERVICE_UNAVAILABLE
   */
  giveBack(scope: string, key: string): Promise<void>;
  /** Forgets windows that ended minutes ago. To be called now and then, by any process. */
  sweep(): Promise<void>;
}

export interface RateLimiterOptions {
  readonly db: Queryable;
  /**
   * Makes the hashes of keys (IP addresses and e-mails are personal data); the same in every
   * process.
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
 * @returns a limiter that sends all requests that come while one statement is under way with the
 *   next one
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

/** Requests of one bucket are counted with one row, and granted in order of arrival. */
async function sendTakes(options: RateLimiterOptions, takes: readonly Take[]): Promise<RateLimitDecision[]> {
  const buckets = new Map<string, Bucket>();
  for (const { bucket, cost } of takes) {
    const known = buckets.get(bucket);
    if (known === undefined) buckets.set(bucket, { hash: bucketHash(options.hashKey, bucket), cost });
    else known.cost += cost;
  }
  // One order in every process, so that two statements cannot wait for each other.
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
