import type { Policies } from './policies.js';

/**
 * The smallest size of a checkpoint up to which this many distinct authorities have stamped checkpoints
 * above a batch; infinite if there are not so many.
 */
export type SizeStampedBy = (batch: number, authorities: number) => number;

/**
 * How many distinct authorities must have stamped a batch, by the policies. A policy with fewer `stamps`
 * counts only for batches after a checkpoint that shows it with the stamps that were demanded before
 * it: otherwise one authority that colludes with the operator could make its own stamp suffice.
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
