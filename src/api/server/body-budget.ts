/**
 * Bytes of large bodies that one process holds at a time: a batch at its largest, and some beside
 * it.
 */
export const BODY_BUDGET_BYTES = 256 * 1024 * 1024;

interface Held {
  bytes: number;
  bodies: number;
}

/** What one large body takes of the budget, piece by piece as it arrives. */
export interface BodyShare {
  /** Counts bytes that came; false, and nothing counted, if there is no room for them. */
  take(bytes: number): boolean;
  /** Gives everything back; doing so again changes nothing. */
  release(): void;
}

/**
 * Bounds the memory that large bodies take together. Bytes count once they are there, so that what
 * is only announced takes nothing from anyone; and each owner has a quarter, so that one tenant, or
 * whoever holds its browsers' public key, cannot take the room of the others. A body larger than a
 * quarter is taken if it is its owner's only one, and leaves the last quarter free.
 */
export class BodyBudget {
  #held = 0;
  readonly #byOwner = new Map<string, Held>();

  constructor(private readonly budgetBytes: number = BODY_BUDGET_BYTES) {}

  /**
   * Begins a body.
   * @param owner who is to share a quarter
   * @param announced bytes that it says it has; 0 where it does not say
   * @returns null if there is no room for it now: so it is refused before it is sent
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
