/**
 * A bounded cache of values that are at most `maxAgeMs` old, measured from the start of their
 * look-up.
 */
export interface FreshCache<K, V> {
  /**
   * Returns the stored value or the running look-up if it is fresh; otherwise starts a new look-up.
   * A failure is not stored.
   */
  get(key: K): Promise<V>;
  /** Starts a new look-up immediately. */
  reload(key: K): Promise<V>;
}

export interface FreshCacheOptions<K, V> {
  /** @param known the previous value, of any age */
  readonly load: (key: K, known: V | undefined) => Promise<V>;
  readonly maxAgeMs: number;
  readonly maxEntries: number;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

interface Entry<V> {
  readonly value: Promise<V>;
  readonly since: number;
  settled?: { readonly value: V };
  isBeingRenewed: boolean;
}

/**
 * Creates a cache in which concurrent callers share one look-up. A value in use is renewed in the
 * second half of its lifetime. Callers therefore do not wait for the renewal and never receive a
 * value older than `maxAgeMs`.
 */
export function createFreshCache<K, V>(options: FreshCacheOptions<K, V>): FreshCache<K, V> {
  const { load, maxAgeMs, maxEntries, now } = options;
  const entries = new Map<K, Entry<V>>();

  const put = (key: K, entry: Entry<V>): void => {
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > maxEntries) {
      const [oldest] = entries.keys();
      if (oldest !== undefined) entries.delete(oldest);
    }
  };
  const lookUp = (key: K, known: V | undefined): Entry<V> => {
    const since = now();
    const entry: Entry<V> = { value: load(key, known), since, isBeingRenewed: false };
    entry.value.then(
      (value) => {
        entry.settled = { value };
      },
      () => {
        if (entries.get(key) === entry) entries.delete(key);
      },
    );
    return entry;
  };
  const reload = (key: K): Promise<V> => {
    const entry = lookUp(key, entries.get(key)?.settled?.value);
    put(key, entry);
    return entry.value;
  };
  const renew = (key: K, old: Entry<V>): void => {
    old.isBeingRenewed = true;
    const entry = lookUp(key, old.settled?.value);
    entry.value.then(
      () => {
        if (entries.get(key) === old) put(key, entry);
      },
      () => {
        old.isBeingRenewed = false;
      },
    );
  };
  return {
    reload,
    get: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return reload(key);
      const age = now() - entry.since;
      if (age > maxAgeMs && entry.settled !== undefined) return reload(key);
      if (age > maxAgeMs / 2 && entry.settled !== undefined && !entry.isBeingRenewed) renew(key, entry);
      return entry.value;
    },
  };
}
