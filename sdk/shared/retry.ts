const RETRIED: readonly number[] = [408, 425, 429];
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Whether a response permits sending the same body again (specification, "Retry rules"). */
export function isRetried(status: number): boolean {
  return RETRIED.includes(status) || status >= 500;
}

/**
 * The wait that a response states.
 * @param header value of `Retry-After`: seconds, or an HTTP date (RFC 9110 §10.2.3)
 * @param now Unix milliseconds
 * @returns milliseconds, or null if there is no valid header
 */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const time = Date.parse(header);
  return Number.isNaN(time) ? null : Math.max(0, time - now);
}

/**
 * The wait before the next attempt, if the response states none: doubled each time, at most a
 * minute, and random in its upper half, so that clients that failed together do not return
 * together.
 * @param attempt number of the attempt that failed, from 1
 * @param random a random number from 0 to 1
 * @returns milliseconds
 */
export function backOffMs(attempt: number, random: number): number {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  return Math.round(longest * (0.5 + random / 2));
}
