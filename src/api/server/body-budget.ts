/**
 * Maximum number of bytes of large bodies that one process holds at a time: enough for the largest submission batch and
 * some more.
 */
export const BODY_BUDGET_BYTES = 256 * 1024 * 1024;

interface Held {
  bytes: number;
  bodies: number;
}

/** The part of the budget that one large body uses. It grows as chunks arrive. */
export interface BodyShare {
  /**
   * Reserves bytes that have arrived.
   * @returns false, without a reservation, if the budget is exhausted
   */
  take(bytes: number): boolean;
  /** Releases all reserved bytes. Further calls have no effect. */
  release(): void;
}

/**
 * Limits the total memory of large bodies. Only received bytes count, so announcing a large size takes nothing from
 * other clients. Each owner may use a quarter, so that neither one tenant nor a client with its public browser key can
 * exhaust the budget. A body larger than a quarter is accepted as its owner's only body, and must leave a quarter free.
 */
export class BodyBudget {
  #held = 0;
  readonly #byOwner = new Map<string, Held>();

  constructor(private readonly budgetBytes: number = BODY_BUDGET_BYTES) {}

  /**
   * Starts a body.
   * @param owner the party whose bodies share one quarter
   * @param announced announced size in bytes; 0 if unknown
   * @returns null if the budget has no room, so that the request is refused before its body is sent
   */
  begin(owner: string, announced: number): BodyShare | null {
    const held = this.#byOwner.get(owner) ?? { bytes: 0, bodies: 0 };
    if (!this.#hasRoom(held.bytes + announced, announced, held.bodies === 0)) return null;
    held.bodies += 1;
    this.#byOwner.set(owner, held);
    let bytes = 0;
    let isOpen = true;
    return {
      take: (more) => {
        if (!isOpen || !this.#hasRoom(held.bytes + more, more, held.bodies === 1)) return false;
        bytes += more;
        held.bytes += more;
        this.#held += more;
        return true;
      },
      release: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#held -= bytes;
        held.bytes -= bytes;
        held.bodies -= 1;
        if (held.bodies === 0) this.#byOwner.delete(owner);
      },
    };
  }

  #hasRoom(ofOwner: number, more: number, isOnlyOne: boolean): boolean {
    const quarter = this.budgetBytes / 4;
    const free = this.budgetBytes - this.#held - more;
    return ofOwner <= quarter ? free >= 0 : isOnlyOne && free >= quarter;
  }
}
