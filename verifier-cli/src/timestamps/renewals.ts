import type { Batches } from '../batches/batches.js';
import type { Stamp } from './timestamps.js';

/** What ties checkpoints and stamps to one another. */
export interface RenewalHistory {
  /** Sizes of the checkpoints that consistency proofs tie to the newest one. */
  readonly tied: ReadonlySet<number>;
  /** Their headers name the stamps that were there when they were sealed. */
  readonly batches: Batches;
}

export const NO_HISTORY: RenewalHistory = { tied: new Set(), batches: new Map() };

/** A newer stamp that holds, over a checkpoint that holds an older one. */
export interface RenewingStamp {
  readonly size: number;
  /** Its genTime: the older stamp is judged by what was sound then. */
  readonly time: Date;
  /**
   * `token`: a batch in its checkpoint names the older response by its hash, so that the token itself existed by then. `checkpoint`: only what the
   * older token stamps is shown to have existed by then.
   */
  readonly covers: 'token' | 'checkpoint';
}

/** Finds for an older stamp the newer one that renews it. Stamps are accepted from the newest to the oldest. */
export class Renewals {
  #earliest: RenewingStamp | null = null;
  /** By SHA-256 of the response: the first batch that names it. */
  readonly #named = new Map<string, number>();

  constructor(readonly history: RenewalHistory) {
    for (const { header, verdict } of history.batches.values()) {
      if (header.after === null || verdict !== 'valid') continue;
      const known = this.#named.get(header.after.sha256) ?? Number.POSITIVE_INFINITY;
      this.#named.set(header.after.sha256, Math.min(known, header.number));
    }
  }

  /** @returns the stamp, standing by itself or renewed in turn, with the earliest time among those that are newer, hold, and are tied to this one's checkpoint */
  over({ size, sha256 }: Pick<Stamp, 'size' | 'sha256'>): RenewingStamp | null {
    if (this.#earliest === null || !this.history.tied.has(size)) return null;
    const namedBy = this.#named.get(sha256) ?? Number.POSITIVE_INFINITY;
    // A chain of renewals is as strong as its weakest link.
    const isNamed = namedBy < this.#earliest.size && this.#earliest.covers === 'token';
    return { ...this.#earliest, covers: isNamed ? 'token' : 'checkpoint' };
  }

  accept({ size, report, renewedBy }: Stamp): void {
    const time = report.outcome === 'pass' ? report.claims?.genTime : undefined;
    if (time === undefined || !this.history.tied.has(size)) return;
    if (this.#earliest === null || time.getTime() < this.#earliest.time.getTime()) {
      this.#earliest = { size, time, covers: renewedBy?.covers ?? 'token' };
    }
  }
}
