import { setTimeout as sleep } from 'node:timers/promises';

/** Times of rest for each time of work: what other requests get of the main thread. */
const REST = 3;
/** Bound of one rest, in milliseconds. */
const MAX_REST_MS = 500;

/**
 * Rests after a step of work on the main thread, so that other requests are answered before the
 * next step.
 */
export type Rest = () => Promise<void>;

interface Waiting {
  readonly owner: string;
  readonly start: () => void;
}

/**
 * Takes the work of large requests in turns. Each owner has one turn at a time, and waits for at
 * most one turn of each other owner between its own. A few owners with large requests can therefore
 * neither occupy the main thread nor keep the others from it.
 */
export class FairTurns {
  #running = 0;
  readonly #busy = new Set<string>();
  #waiting: Waiting[] = [];
  /** Owners with waiting work, in the order of their next turns. */
  #order: string[] = [];

  /**
   * @param slots turns at a time
   * @param now milliseconds of a monotonic clock
   */
  constructor(
    private readonly slots: number,
    private readonly now: () => number,
  ) {}

  /**
   * Does the work when its turn comes.
   * @param work calls `rest` between its steps
   * @param gone aborted when nothing waits for the result any more. Work that has not begun is dropped:
   *   otherwise clients that leave would fill the queue.
   * @throws the reason of `gone` if the work was dropped; errors of the work
   */
  async take<T>(owner: string, work: (rest: Rest) => Promise<T>, gone?: AbortSignal): Promise<T> {
    await this.#turnOf(owner, gone);
    try {
      let since = this.now();
      return await work(async () => {
        await sleep(Math.min(MAX_REST_MS, REST * (this.now() - since)));
        since = this.now();
      });
    } finally {
      this.#running -= 1;
      this.#busy.delete(owner);
      this.#next();
    }
  }

  #turnOf(owner: string, gone: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (gone?.aborted === true) return reject(gone.reason);
      const start = (): void => {
        gone?.removeEventListener('abort', drop);
        resolve();
      };
      const waiting: Waiting = { owner, start };
      const drop = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        const waitsStill = this.#waiting.some((one) => one.owner === owner);
        if (!waitsStill) this.#order = this.#order.filter((one) => one !== owner);
        reject(gone?.reason);
      };
      gone?.addEventListener('abort', drop, { once: true });
      this.#waiting.push(waiting);
      if (!this.#order.includes(owner)) this.#order.push(owner);
      this.#next();
    });
  }

  #next(): void {
    while (this.#running < this.slots) {
      const owner = this.#order.find((one) => !this.#busy.has(one));
      const next = this.#waiting.find((one) => one.owner === owner);
      if (owner === undefined || next === undefined) return;
      this.#waiting = this.#waiting.filter((one) => one !== next);
      this.#order = this.#order.filter((one) => one !== owner);
      if (this.#waiting.some((one) => one.owner === owner)) this.#order.push(owner);
      this.#running += 1;
      this.#busy.add(owner);
      next.start();
    }
  }
}
