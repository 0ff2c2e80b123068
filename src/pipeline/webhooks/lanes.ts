/** A receiver whose last answer took longer than this, in milliseconds, or did not come, is slow. */
const SLOW_MS = 1_000;

export interface LanesOptions {
  /** Webhooks that are delivered at the same time. */
  readonly lanes: number;
  /** Lanes that slow receivers may take together. The others are free for those that answer fast. */
  readonly slowLanes: number;
}

/**
 * A lane for each webhook that is being delivered. A slow receiver holds its own lane only. The process forgets
 * with its end how fast receivers are, and a receiver that it does not know counts as fast.
 */
export class Lanes {
  readonly #running = new Map<string, Promise<void>>();
  readonly #slow = new Set<string>();

  constructor(private readonly options: LanesOptions) {}

  get areFull(): boolean {
    return this.#running.size >= this.options.lanes;
  }

  /** Ids of the webhooks for which no lane is free. */
  get refused(): readonly string[] {
    const slow = [...this.#running.keys()].filter((id) => this.#slow.has(id));
    return slow.length >= this.options.slowLanes ? [...this.#slow] : [];
  }

  /** Runs the work of a webhook in its lane. @param work never rejects */
  run(id: string, work: () => Promise<void>): void {
    const lane = work().finally(() => this.#running.delete(id));
    this.#running.set(id, lane);
  }

  /** Notes how long a receiver took to answer, in milliseconds; null: it did not accept. */
  note(id: string, ms: number | null): void {
    if (ms === null || ms > SLOW_MS) this.#slow.add(id);
    else this.#slow.delete(id);
  }

  /** Resolves when a lane ends; never without one. */
  async anyEnd(): Promise<void> {
    await Promise.race(this.#running.values());
  }

  /** Resolves when every lane has ended. */
  async allEnd(): Promise<void> {
    await Promise.all(this.#running.values());
  }
}
