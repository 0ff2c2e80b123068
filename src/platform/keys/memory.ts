/**
 * Caches the results of an asynchronous function by its arguments. Concurrent calls with equal
 * arguments share one call. A failure is not cached.
 */
export function remembered<A extends readonly (string | null)[], T>(
  load: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (...args) => {
    const name = JSON.stringify(args);
    const existing = known.get(name);
    if (existing !== undefined) return existing;
    const loading = load(...args);
    known.set(name, loading);
    loading.catch(() => known.delete(name));
    return loading;
  };
}
