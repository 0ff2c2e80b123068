import type { EntryFindings } from '../findings/entry-findings.js';
import { finding } from '../findings/finding.js';
import { CLOCK_TOLERANCE_MS } from './claimed-times.js';

/**
 * Verifies that the claimed times of a stream do not decrease (docs/evidence-format.md §9). Entries that are recorded
 * at the same time may be slightly out of order, and a clock may be set back, so a larger decrease is a doubt, not a
 * contradiction.
 */
export class StreamTimes {
  #stream: string | null = null;
  #latest = Number.NEGATIVE_INFINITY;

  /**
   * Takes the entries in their order.
   * @param createdAt claimed time, milliseconds since 1970
   */
  accept(stream: string, createdAt: number, findings: EntryFindings): void {
    if (stream !== this.#stream) this.#latest = Number.NEGATIVE_INFINITY;
    this.#stream = stream;
    const fall = this.#latest - createdAt;
    this.#latest = Math.max(this.#latest, createdAt);
    if (fall > CLOCK_TOLERANCE_MS) findings.open('time.claimed', finding('claimed-time-decreases', { fall }));
  }
}
