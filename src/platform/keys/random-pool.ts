import { randomFillSync } from 'node:crypto';

/** Random bytes in small pieces, at a fraction of the cost of one generator call per piece. */
export interface RandomPool {
  /** @returns `count` bytes (at most 1,024) that are never returned again */
  take(count: number): Buffer;
}

const POOL_BYTES = 16_384;
const MAX_TAKE = 1_024;

/**
 * Creates a pool over the system's cryptographic generator. A returned piece is never overwritten,
 * because each refill is a new buffer.
 */
export function createRandomPool(): RandomPool {
  let pool = Buffer.alloc(0);
  let used = 0;
  return {
    take(count) {
      if (!Number.isInteger(count) || count < 0 || count > MAX_TAKE) throw new RangeError(`cannot take ${count} bytes`);
      if (used + count > pool.length) {
        pool = randomFillSync(Buffer.allocUnsafeSlow(POOL_BYTES));
        used = 0;
      }
      used += count;
      return pool.subarray(used - count, used);
    },
  };
}
