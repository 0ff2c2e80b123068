import { setTimeout as delay } from 'node:timers/promises';

export interface SharedReaderOptions<T> {
  /** Must not reject. */
  readonly read: () => Promise<T>;
  /** Age up to which a value is returned without a new read, in milliseconds. */
  readonly freshMs: number;
  /** Longest wait for a read, in milliseconds; then the previous value is returned. */
  readonly waitMs: number;
  /** Age up to which the previous value replaces a slow read, in milliseconds. */
  readonly staleMs: number;
}

/**
 * Shares one read between concurrent callers, so that one read at most is in progress.
 * @returns a function that returns the value, or null if the read takes too long
 */
export function createSharedReader<T>({
  read,
  freshMs,
  waitMs,
  staleMs,
}: SharedReaderOptions<T>): () => Promise<T | null> {
  let underWay: Promise<T> | null = null;
  let newest: { readonly value: T; readonly at: number } | null = null;
  const start = (): Promise<T> => {
    const reading = read()
      .then((value) => {
        newest = { value, at: performance.now() };
        return value;
      })
      .finally(() => {
        underWay = null;
      });
    underWay = reading;
    return reading;
  };
  return async () => {
    const newerThan = (ms: number): T | null =>
      newest !== null && performance.now() - newest.at < ms ? newest.value : null;
    const fresh = newerThan(freshMs);
    if (fresh !== null) return fresh;
    const waiting = new AbortController();
    const tooLong = delay(waitMs, null, { signal: waiting.signal }).catch(() => null);
    try {
      return (await Promise.race([underWay ?? start(), tooLong])) ?? newerThan(staleMs);
    } finally {
      waiting.abort();
    }
  };
}
