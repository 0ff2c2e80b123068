import { ApiError } from '../../../schemas/api/error-codes.js';

/** Bounds the work that one process has taken on, so that it refuses the rest quickly. */
export interface LoadGate {
  /**
   * Runs a part of the work on a request, which counts until it ends.
   * @throws ApiError QUEUE_OVERLOADED, without running it, while the process has as much work as it
   *   may; errors of `work`
   */
  pass<T>(work: () => Promise<T>): Promise<T>;
}

export interface LoadGateOptions {
  /** Requests whose work may be in progress at a time. */
  readonly maxInProgress: number;
  /** Whether most requests will be refused anyway; then a tenth of them is let in. */
  readonly isFull: () => boolean;
  /** Called for each refused request. */
  readonly onRefused: () => void;
}

/** Part of the limit while the outbox is full: duplicates are still answered, and refusals stay quick. */
const PART_WHILE_FULL = 0.1;
const RETRY_AFTER_SECONDS = 2;

/**
 * Creates a gate. A request passes it twice: before its body, and with its body. While it waits for
 * its body it is no work: otherwise clients that send slowly could close the gate for everyone.
 */
export function createLoadGate({ maxInProgress, isFull, onRefused }: LoadGateOptions): LoadGate {
  // Made once: only writing the answer would cost more than a stack for each refusal.
  const refusal = new ApiError('QUEUE_OVERLOADED', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  let inProgress = 0;
  return {
    pass: async (work) => {
      if (inProgress >= maxInProgress * (isFull() ? PART_WHILE_FULL : 1)) {
        onRefused();
        throw refusal;
      }
      inProgress += 1;
      try {
        return await work();
      } finally {
        inProgress -= 1;
      }
    },
  };
}
