/** A function whose results are cached by its arguments. */
export interface Remembered<A extends readonly (string | null)[], T> {
  (...args: A): Promise<T>;
  /** Returns whether the result is cached or being loaded. */
  has(...args: A): boolean;
  /** Caches a result that was loaded otherwise, unless there is one. */
  remember(value: T, ...args: A): void;
}

/**
 * Caches the results of an asynchronous function by its arguments. Concurrent calls with equal
 * arguments share one call. A failure is not cached.
 */
export function remembered<A extends readonly (string | null)[], T>(
  load: (...args: A) => Promise<T>,
): Remembered<A, T> {
  const known = new Map<string, Promise<T>>();
  const get = (...args: A): Promise<T> => {
    const name = JSON.stringify(args);
    const existing = known.get(name);
    if (existing !== undefined) return existing;
    const loading = load(...args);
    known.set(name, loading);
    loading.catch(() => known.delete(name));
    return loading;
  };
  return Object.assign(get, {
    has: (...args: A): boolean => known.has(JSON.stringify(args)),
    remember: (value: T, ...args: A): void => {
      const name = JSON.stringify(args);
      if (!known.has(name)) known.set(name, Promise.resolve(value));
    },
  });
}
