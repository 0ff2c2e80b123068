import { type Batches, NO_BATCHES } from '../batches/batches.js';
import type { RenewingStamp, Stamp } from './stamp.js';

/** Links between checkpoints and stamps. */
export interface RenewalHistory {
  /** Sizes of the checkpoints that consistency proofs tie to the newest one. */
  readonly tied: ReadonlySet<number>;
  /** Batches, whose headers name the stamps that existed when they were sealed. */
  readonly batches: Batches;
}

export const NO_HISTORY: RenewalHistory = { tied: new Set(), batches: NO_BATCHES };

/**
 * Finds for an older stamp the newer one that renews it (RFC 4998 §5.2): one over a checkpoint with a batch whose
 * header names the older response by its hash. A newer stamp over the same data is not enough: once the algorithms of
 * the older one are broken, anyone can forge an older-looking token over that data. Stamps are accepted from the newest
 * to the oldest.
 */
export class Renewals {
  /** Sizes in decreasing order, each with the earliest stamp over this size or a larger one. */
  readonly #accepted: { readonly size: number; readonly earliest: RenewingStamp }[] = [];
  /** The first batch that names a response, by the SHA-256 of the response. */
  readonly #named = new Map<string, number>();

  constructor(readonly history: RenewalHistory) {
    for (const { header, verdict } of history.batches.values()) {
      if (header.after === null || verdict !== 'valid') continue;
      const known = this.#named.get(header.after.sha256) ?? Number.POSITIVE_INFINITY;
      this.#named.set(header.after.sha256, Math.min(known, header.number));
    }
  }

  /** @returns the earliest of the newer valid stamps whose ledger names this one */
  over({ size, sha256 }: Pick<Stamp, 'size' | 'sha256'>): RenewingStamp | null {
    const namedBy = this.#named.get(sha256);
    if (namedBy === undefined || !this.history.tied.has(size)) return null;
    return this.#accepted.findLast((stamp) => stamp.size > namedBy)?.earliest ?? null;
  }

  /** Takes a stamp into account if it is valid. */
  accept({ size, report }: Pick<Stamp, 'size' | 'report'>): void {
    const time = report.outcome === 'pass' ? report.claims?.genTime : undefined;
    if (time === undefined || !this.history.tied.has(size)) return;
    const before = this.#accepted.at(-1)?.earliest;
    this.#accepted.push({ size, earliest: before !== undefined && before.time <= time ? before : { size, time } });
  }
}
