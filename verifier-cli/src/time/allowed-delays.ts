import { DEFAULT_POLICY, type Policies, type PolicyInForce } from '../policy/policies.js';
import type { ProvedTime } from './stamped-times.js';

/** How much earlier than sealing and stamping the claimed time may be, in milliseconds. */
export interface AllowedDelays {
  readonly sealMs: number;
  /** Maximum time from the claimed time to the stamp. */
  readonly stampMs: number;
}

/** Delays for the ledger's policies themselves, whose claimed time has no effect. */
export const ANY_DELAY: AllowedDelays = { sealMs: Number.POSITIVE_INFINITY, stampMs: Number.POSITIVE_INFINITY };

export interface PolicyDelaysOptions {
  readonly policies: Policies;
  /** The proved time by which a batch existed, or null if there is none. */
  readonly existedBy: (batch: number) => ProvedTime | null;
  /**
   * Milliseconds from the claimed time to the stamp that the relying party allows; it cannot
   * exceed the policies.
   */
  readonly maxDelay?: number | undefined;
}

/** The delays of records whose `created_at` is `from` or later, in milliseconds since 1970. */
interface Step {
  readonly from: number;
  readonly delays: AllowedDelays;
}

/**
 * The delays that the policies allow: those of the newest policy that provably existed at `created_at` of the record
 * (docs/evidence-format.md §9). Otherwise an operator could publish a longer delay today and backdate a record under
 * it, and a shorter delay would make records late that were already waiting when it was published.
 */
export class PolicyDelays {
  /** Steps of the first `count` policies, the newest first. Neighbouring batches have the same policies. */
  #steps: { readonly count: number; readonly steps: readonly Step[] } | null = null;

  constructor(private readonly options: PolicyDelaysOptions) {}

  /**
   * @param batch number of the record's batch
   * @param createdAt the claimed time, milliseconds since 1970
   */
  of(batch: number, createdAt: number): AllowedDelays {
    const steps = this.#stepsAt(batch);
    let low = 0;
    let high = steps.length - 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((steps[middle]?.from ?? 0) <= createdAt) high = middle;
      else low = middle + 1;
    }
    return steps[low]?.delays ?? NO_DELAY;
  }

  #stepsAt(batch: number): readonly Step[] {
    const count = this.options.policies.countUpTo(batch);
    if (this.#steps?.count !== count) this.#steps = { count, steps: this.#stepsOf(count) };
    return this.#steps.steps;
  }

  /** @returns steps with falling `from`; the last one applies to every time */
  #stepsOf(count: number): readonly Step[] {
    const { policies, existedBy, maxDelay = Number.POSITIVE_INFINITY } = this.options;
    const delaysOf = ({ sealWithinMs, stampWithinMs }: PolicyInForce): AllowedDelays => ({
      sealMs: sealWithinMs,
      stampMs: Math.min(maxDelay, sealWithinMs + stampWithinMs),
    });
    const steps: Step[] = [];
    let from = Number.POSITIVE_INFINITY;
    for (const { batch, policy } of policies.placed.slice(0, count).reverse()) {
      const proved = existedBy(batch);
      // Of two policies that existed equally early, the newer one is found first.
      if (proved === null || proved.time + proved.accuracy >= from) continue;
      from = proved.time + proved.accuracy;
      steps.push({ from, delays: delaysOf(policy) });
    }
    steps.push({ from: Number.NEGATIVE_INFINITY, delays: delaysOf(DEFAULT_POLICY) });
    return steps;
  }
}

const NO_DELAY: AllowedDelays = { sealMs: 0, stampMs: 0 };
