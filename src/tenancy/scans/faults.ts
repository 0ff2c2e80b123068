import { guarded } from '../../platform/net/guarded.js';

/**
 * Counts what a stranger sent and the service could not take. Each ended its request, its connection or
 * its visit.
 */
export class Faults {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /**
   * Returns a listener of an emitter that throws nothing: what a listener throws ends the process.
   * @param end ends what the event belongs to, with what the emitter passed
   */
  guard<A extends readonly unknown[]>(
    listener: (...args: A) => void,
    end: (error: Error, ...args: A) => void,
  ): (...args: A) => void {
    return guarded(listener, {
      end,
      onCaught: () => {
        this.#count += 1;
      },
    });
  }

  /** Counts what was caught otherwise. */
  add(): void {
    this.#count += 1;
  }
}
