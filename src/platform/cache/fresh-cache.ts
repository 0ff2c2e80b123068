/** A bounded cache of what may be no older than `maxAgeMs`, counted from the start of its look-up. */
export interface FreshCache<K, V> {
  /** What is known, or is being looked up for someone else, if it is fresh; else a new look-up. A failure is not kept. */
  get(key: K): Promise<V>;
  /** Looks it up again, now. */
  reload(key: K): Promise<V>;
}

export interface FreshCacheOptions<K, V> {
  /** @param known the value before, however old */
  readonly load: (key: K, known: V | undefined) => Promise<V>;
  readonly maxAgeMs: number;
  readonly maxEntries: number;
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number;
}

interface Entry<V> {
  readonly value: Promise<V>;
  readonly since: number;
  settled?: { readonly value: V };
  isBeingRenewed: boolean;
}

/**
 * Callers who come while a look-up runs share it. What is in use is renewed in the second half of its age, so that no caller waits for it and
 * none gets anything older than `maxAgeMs`.
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
