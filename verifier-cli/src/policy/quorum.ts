import type { Policies } from './policies.js';

/**
 * Returns the smallest size up to which this many distinct authorities have stamped checkpoints over a batch. Infinite
 * if there are fewer authorities.
 */
export type SizeStampedBy = (batch: number, authorities: number) => number;

/**
 * Returns how many distinct authorities must have stamped a batch according to the policies (docs/evidence-format.md
 * §9). A policy with fewer `stamps` applies only to batches after a checkpoint that includes it and has the stamps
 * required before. Otherwise one authority that colludes with the operator could make its own stamp sufficient.
 * @param batch number of the batch
 */
export function stampsDemanded(policies: Policies, batch: number, sizeStampedBy: SizeStampedBy): number {
  let demanded = 1;
  for (const { batch: from, policy } of policies.placed.slice(0, policies.countUpTo(batch))) {
    const isLowered = policy.stamps < demanded;
    if (!isLowered || sizeStampedBy(from, demanded) <= batch) demanded = policy.stamps;
  }
  return demanded;
}
