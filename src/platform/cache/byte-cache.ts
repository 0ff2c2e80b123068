/** A cache of bytes that never change. */
export interface ByteCache {
  /**
   * Returns the bytes of a key. Callers at the same time share one computation. A failure is not stored.
   * @param load computes the bytes, which nothing may change
   */
  get(key: string, load: () => Promise<Uint8Array>): Promise<Uint8Array>;
}

export interface ByteCacheOptions {
  /** Bytes that are stored at most. Those that were not used for the longest time go first. */
  readonly maxBytes: number;
  /** Larger values, in bytes, are returned and not stored. */
  readonly maxEntryBytes: number;
}

/** Creates a cache whose memory is bounded by the bytes that it stores. */
export function createByteCache({ maxBytes, maxEntryBytes }: ByteCacheOptions): ByteCache {
  /** In the order of their last use. */
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
