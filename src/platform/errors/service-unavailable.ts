import { RequestRefused } from './request-refused.js';

const RETRY_AFTER_SECONDS = 2;

export interface Unavailability {
  /** States the missing component and the next step; by default the meaning of the code. */
  readonly message?: string;
  /** Seconds after which a retry may succeed. */
  readonly retryAfterSeconds?: number;
  /** The failure that caused it, for the log. */
  readonly cause?: unknown;
}

/** Returns the refusal of a request that the service cannot answer now: SERVICE_UNAVAILABLE. */
export function serviceUnavailable(why: Unavailability = {}): RequestRefused {
  const { message, retryAfterSeconds = RETRY_AFTER_SECONDS, cause } = why;
  return Object.assign(new RequestRefused('SERVICE_UNAVAILABLE', message, { retryAfterSeconds }), { cause });
}
