import type { Guard } from './guards.js';

/**
 * Cookies, as a page can read and write them. A jar that is blocked, full or throws reads as empty,
 * and keeps nothing. Every jar passes test/sdk/core/ports.test.ts.
 */
export interface Jar {
  /** Every value of the cookies of this name that the page sees, of any domain and path. */
  read(name: string): readonly string[];
  /**
   * Makes this value the only one of the name that the page sees.
   * @param days until it expires
   * @returns whether the jar keeps it
   */
  keep(name: string, value: string, days: number): boolean;
}

/**
 * Values under names of their own, for one origin. A store that is blocked, full or throws keeps
 * the values of this page for its lifetime, also after the visitor clears the store.
 * Every store passes test/sdk/core/ports.test.ts.
 */
export interface Store {
  read<T>(name: string, guard: Guard<T>): T | undefined;
  /** @returns whether later pages can read it */
  write(name: string, value: object | string | number): boolean;
  remove(name: string): void;
  /** Names that begin with a prefix, sorted. */
  names(prefix: string): readonly string[];
}

/** An answer of the service, or its absence. */
export interface Answer {
  /** HTTP status; 0 if no answer arrived. */
  readonly status: number;
  readonly body: unknown;
  /** From `Retry-After`, in milliseconds; null without one. */
  readonly retryAfterMs: number | null;
}

/** Signed requests to the service. Every transport passes test/sdk/core/ports.test.ts. */
export interface Transport {
  /**
   * Sends a body of any size. It always resolves; without a network, to an answer of status 0. Leaving the
   * page does not end the request of a small body.
   */
  post(path: string, body: string): Promise<Answer>;
}
