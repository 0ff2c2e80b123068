import type { ReadinessCode, ReadinessReason } from './reasons.js';

/**
 * Looks at one thing that a process needs. Whatever a process can lack is a source of its own, so that
 * one that does not answer hides no other.
 */
export interface ReadinessSource {
  /** Name in the program's log. */
  readonly name: string;
  /** @returns the reasons that hold now; none: all is well */
  check(): Promise<readonly ReadinessReason[]> | readonly ReadinessReason[];
  /** Returns the reason that holds while `check` rejects with this error, or does not answer in time. */
  ifUnknown(error: unknown): ReadinessCode;
}

/** The readiness of one process. */
export interface Readiness {
  /**
   * Asks all sources. However often it is called, a source is asked once a second at most, and once
   * at a time.
   * @returns the reasons in the order of their weight, each code once. Never rejects.
   */
  reasons(): Promise<readonly ReadinessReason[]>;
}
