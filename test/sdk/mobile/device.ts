import type { AppFetch } from '../../../sdk/mobile/src/options.js';
import type { AppStorage } from '../../../sdk/mobile/src/storage.js';

/** The way of a request. `before`: it never reaches the service. `after`: the answer is lost. */
export type Way = 'arrives' | 'before' | 'after';

/** A device that runs an app: storage that writes late, and a network that loses requests and answers. */
export class Device {
  /** Texts that survive the end of the app. */
  readonly kept = new Map<string, string>();
  isInFlight = false;
  /** Keys of the consents that the service accepted, whether its answers arrived or not. */
  readonly #accepted = new Set<string>();
  /** Writes after which the system ends the app. */
  writesLeft = Number.POSITIVE_INFINITY;
  /** Number of the current run of the app: nothing that an earlier one began goes on. */
  #run = 0;

  /** @param wayOf decides about each request @param delayMs of each write and request */
  constructor(
    private readonly wayOf: () => Way,
    private readonly delayMs: () => number,
  ) {}

  /** How many consents the service accepted. */
  get accepted(): number {
    return this.#accepted.size;
  }

  /** Ends the app as the system does: at once, without telling it. */
  kill(): void {
    this.#run += 1;
    this.writesLeft = Number.POSITIVE_INFINITY;
  }

  /** The storage as the current run of the app sees it. */
  storage(): AppStorage {
    const run = this.#run;
    const late = async (write: () => void): Promise<void> => {
      await this.#pause();
      if (run !== this.#run) return new Promise(() => undefined);
      write();
      this.writesLeft -= 1;
      if (this.writesLeft <= 0) this.kill();
    };
    return {
      keys: async () => [...this.kept.keys(), 'another part of the app'],
      get: async (name) => this.kept.get(name) ?? null,
      set: (name, text) => late(() => this.kept.set(name, text)),
      remove: (name) => late(() => this.kept.delete(name)),
    };
  }

  /** The network as the current run of the app sees it. */
  fetch(): AppFetch {
    const run = this.#run;
    return async (url, options) => {
      const isAsked = options.method === 'POST';
      const way = isAsked ? this.wayOf() : 'arrives';
      await this.#pause();
      if (run !== this.#run) return new Promise(() => undefined);
      if (this.isInFlight || way === 'before') throw new TypeError('Network request failed');
      const answer = await fetch(url, options);
      const text = await answer.text();
      if (isAsked && answer.ok) this.#accepted.add(JSON.parse(options.body ?? '{}').idempotency_key);
      await this.#pause();
      if (run !== this.#run) return new Promise(() => undefined);
      if (way === 'after') throw new TypeError('Network request failed');
      return { status: answer.status, headers: answer.headers, text: async () => text };
    };
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.delayMs()));
  }
}
