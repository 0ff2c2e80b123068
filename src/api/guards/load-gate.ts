import { ApiError } from '../../../schemas/api/error-codes.js';

/** Limits the work that one process accepts, so that it can refuse the rest quickly. */
export interface LoadGate {
  /**
   * Runs a part of the work of a request, and counts it as in progress until it ends.
   * @throws ApiError QUEUE_OVERLOADED, without running it, if the process is at its limit; errors of `work`
   */
  pass<T>(work: () => Promise<T>): Promise<T>;
}

export interface LoadGateOptions {
  /** Number of requests that may be in progress at a time. */
  readonly maxInProgress: number;
  /** Whether most requests will be refused anyway. The limit is then a tenth. */
  readonly isFull: () => boolean;
  /** Called for each refused request. */
  readonly onRefused: () => void;
}

/**
 * Fraction of the limit that applies while the outbox is full: duplicates are still answered, and refusals stay quick.
 */
const PART_WHILE_FULL = 0.1;
const RETRY_AFTER_SECONDS = 2;

/**
 * Creates a gate. A request passes it twice, before and after its body is read. Waiting for the body does not count as
 * work: otherwise clients that send slowly could close the gate for everyone.
 */
export function createLoadGate({ maxInProgress, isFull, onRefused }: LoadGateOptions): LoadGate {
  // Created once, because a refusal has to be cheap: capturing a stack trace each time would be its largest cost apart
  // from writing the response.
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
