import { type Deferred, deferred } from './deferred.js';

/** A cache of bytes that never change. */
export interface ByteCache {
  /**
   * Returns the bytes of a key. Callers at the same time share one computation. A failure is not stored.
   * @param load computes the bytes, which nothing may change
   */
  get(key: string, load: () => Promise<Uint8Array>): Promise<Uint8Array>;
}

export interface ByteCacheOptions {
  /** Maximum number of bytes that are stored. The least recently used ones are evicted first. */
  readonly maxBytes: number;
  /** Values larger than this, in bytes, are returned but not stored. */
  readonly maxEntryBytes: number;
}

/** Creates a cache whose memory is bounded by the bytes that it stores. */
export function createByteCache({ maxBytes, maxEntryBytes }: ByteCacheOptions): ByteCache {
  /** Entries in the order of their last use. */
  const stored = new Map<string, Uint8Array>();
  const loading = new Map<string, Promise<Uint8Array>>();
  let size = 0;

  const store = (key: string, value: Uint8Array): void => {
    if (value.length > maxEntryBytes) return;
    stored.set(key, value);
    size += value.length;
    for (const [oldest, { length }] of stored) {
      if (size <= maxBytes) return;
      stored.delete(oldest);
      size -= length;
    }
  };
  return {
    get: (key, load) => {
      const known = stored.get(key);
      if (known !== undefined) {
        stored.delete(key);
        stored.set(key, known);
        return Promise.resolve(known);
      }
      const running = loading.get(key);
      if (running !== undefined) return running;
      const started = load().finally(() => loading.delete(key));
      loading.set(key, started);
      return started.then((value) => {
        store(key, value);
        return value;
      });
    },
  };
}

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

/**
 * Combines the look-ups that begin in one turn of the event loop. Otherwise a service with many sites would send one
 * statement per request.
 * @param load looks up distinct keys; its result lacks what does not exist
 * @returns a function that looks up one key, always after it was called, or undefined if it does not exist. It rejects
 * with the error of `load`
 */
export function joinLookUps<K, V>(
  load: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
): (key: K) => Promise<V | undefined> {
  let joined = new Map<K, Deferred<V | undefined>>();
  const lookUp = async (): Promise<void> => {
    const taken = joined;
    joined = new Map();
    try {
      const found = await load([...taken.keys()]);
      for (const [key, { resolve }] of taken) resolve(found.get(key));
    } catch (error) {
      for (const { reject } of taken.values()) reject(error);
    }
  };
  return (key) => {
    const same = joined.get(key);
    if (same !== undefined) return same.promise;
    const found = deferred<V | undefined>();
    if (joined.size === 0) setImmediate(lookUp);
    joined.set(key, found);
    return found.promise;
  };
}

/** A function whose results are cached by its arguments. */
export interface Remembered<A extends readonly (string | null)[], T> {
  (...args: A): Promise<T>;
  /** Returns whether the result is cached or being loaded. */
  has(...args: A): boolean;
  /** Caches a result that was loaded in another way, unless there already is one. */
  remember(value: T, ...args: A): void;
}

/**
 * Caches the results of an asynchronous function by its arguments. Concurrent calls with equal
 * arguments share one call. A failure is not cached.
 */
export function memoized<A extends readonly (string | null)[], T>(load: (...args: A) => Promise<T>): Remembered<A, T> {
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
