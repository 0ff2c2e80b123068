import { Transform, type TransformCallback } from 'node:stream';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { BodyShare } from './body-budget.js';

const RETRY_AFTER_SECONDS = 5;

/** Refuses a large body, or the rest of it. */
export function noRoom(): ApiError {
  const message = 'Too many large requests are under way. Retry after Retry-After, or send smaller batches.';
  return new ApiError('ADMISSION_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/**
 * How fast a large body arrives at the least: so many bytes in each period. The first period is its
 * grace.
 */
export interface LeastRate {
  readonly bytes: number;
  readonly periodMs: number;
}

/** 1 KiB a second. */
export const LEAST_RATE: LeastRate = { bytes: 10 * 1024, periodMs: 10_000 };

/**
 * A body on its way through: counts what comes, and ends with an error where there is no room for
 * it (ADMISSION_UNAVAILABLE), or where it comes too slowly (REQUEST_TIMEOUT), which would hold what
 * has come of it for as long as a request may take. Its source is not destroyed then: the answer
 * goes by the same connection.
 */
export class MeteredBody extends Transform {
  readonly #watch: NodeJS.Timeout;
  #sinceLastLook = 0;

  constructor(
    private readonly share: BodyShare,
    { bytes, periodMs }: LeastRate,
  ) {
    super();
    // Whoever read it may have given it up by then.
    this.on('error', () => undefined);
    this.#watch = setInterval(() => {
      // What waits in here is what the reader has not taken, which is our slowness.
      if (this.#sinceLastLook < bytes && this.readableLength === 0) this.destroy(new ApiError('REQUEST_TIMEOUT'));
      this.#sinceLastLook = 0;
    }, periodMs);
    this.#watch.unref();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#sinceLastLook += chunk.length;
    if (!this.share.take(chunk.length)) {
      done(noRoom());
      return;
    }
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    clearInterval(this.#watch);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#watch);
    done(error);
  }
}
