import { Transform, type TransformCallback } from 'node:stream';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { BodyShare } from './body-budget.js';

const RETRY_AFTER_SECONDS = 5;

/** The refusal of a large body that exceeds the budget. */
export function noRoom(): ApiError {
  const message = 'Too many large requests are under way. Retry after Retry-After, or send smaller batches.';
  return new ApiError('ADMISSION_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Minimum rate of a large body: bytes per period. The first period is a grace period. */
export interface LeastRate {
  readonly bytes: number;
  readonly periodMs: number;
}

/** 1 KiB per second. */
export const LEAST_RATE: LeastRate = { bytes: 10 * 1024, periodMs: 10_000 };

/**
 * Counts the bytes of a large body as they arrive. It fails with ADMISSION_UNAVAILABLE if the
 * budget has no room. It fails with REQUEST_TIMEOUT below the minimum rate: a slow body would
 * occupy the budget for the whole request timeout. The source is not destroyed, because the
 * response uses the same connection.
 */
export class MeteredBody extends Transform {
  readonly #watch: NodeJS.Timeout;
  #sinceLastLook = 0;

  constructor(
    private readonly share: BodyShare,
    { bytes, periodMs }: LeastRate,
  ) {
    super();
    // The reader may be gone by then. Without a listener, the error would end the process.
    this.on('error', () => undefined);
    this.#watch = setInterval(() => {
      // Bytes that wait in this stream show a slow reader in the service, not a slow client.
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
