/** Caches revocation responses, with limits on number and size. */
export class AnswerCache {
  readonly #entries = new Map<string, { readonly body: Uint8Array; readonly until: number }>();
  #bytes = 0;

  /** @param maxEntries most entries @param maxBytes total size of all bodies */
  constructor(
    private readonly maxEntries: number,
    private readonly maxBytes: number,
  ) {}

  /**
   * The cached body of a key; undefined if there is none or it has expired.
   * @param now Unix milliseconds
   */
  get(key: string, now: number): Uint8Array | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > now) return entry.body;
    this.#remove(key);
    return undefined;
  }

  /**
   * Caches a body until `until` (Unix milliseconds). The oldest entries are evicted if necessary.
   */
  set(key: string, body: Uint8Array, until: number): void {
    this.#remove(key);
    if (body.length > this.maxBytes) return;
    this.#entries.set(key, { body, until });
    this.#bytes += body.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.maxEntries && this.#bytes <= this.maxBytes) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#bytes -= this.#entries.get(key)?.body.length ?? 0;
    this.#entries.delete(key);
  }
}

const LONGEST_MS = 10 * 60 * 1000;

/**
 * The time for which a response may be cached, in milliseconds. It follows Cache-Control, ends at
 * `nextUpdate`, and is at most ten minutes. A newer response is more useful, because only a
 * response made after a time stamp is conclusive for it.
 */
export function keepFor(cacheControl: string, nextUpdate: Date | undefined, now: number): number {
  if (/\bno-(store|cache)\b/i.test(cacheControl)) return 0;
  const maxAge = /\bmax-age=(\d{1,9})\b/i.exec(cacheControl)?.[1];
  const stated = maxAge === undefined ? LONGEST_MS : Number(maxAge) * 1000;
  const untilNext = nextUpdate === undefined ? LONGEST_MS : nextUpdate.getTime() - now;
  return Math.max(0, Math.min(stated, untilNext, LONGEST_MS));
}
