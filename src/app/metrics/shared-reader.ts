import { setTimeout as delay } from 'node:timers/promises';

export interface SharedReaderOptions<T> {
  /** Must not throw. */
  readonly read: () => Promise<T>;
  /** For how long what was read is answered again. */
  readonly freshMs: number;
  /** How long an answer waits for a reading; then it is what was read before. */
  readonly waitMs: number;
  /** For how long what was read stands in for a reading that takes too long. */
  readonly staleMs: number;
}

/**
 * Shares one reading among all who ask: however many ask, and however slow it is, one is under way at a time.
 * @returns a function that answers what was read, or null if it takes too long
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
