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

/**
 * Takes the work of large requests in turns. Each owner has one turn at a time, and waits for at
 * most one turn of each other owner between its own. A few owners with large requests can therefore
 * neither occupy the main thread nor keep the others from it.
 */
export class FairTurns {
  /** Owners whose turn it is: each has one at a time. */
  readonly #busy = new Set<string>();
  /** What starts the waiting work, by owner, in the order of their next turns. */
  readonly #waiting = new Map<string, readonly (() => void)[]>();

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
      const drop = (): void => {
        this.#keep(
          owner,
          this.#waitingOf(owner).filter((one) => one !== start),
        );
        reject(gone?.reason);
      };
      gone?.addEventListener('abort', drop, { once: true });
      this.#keep(owner, [...this.#waitingOf(owner), start]);
      this.#next();
    });
  }

  #waitingOf(owner: string): readonly (() => void)[] {
    return this.#waiting.get(owner) ?? [];
  }

  /** Keeps the place of an owner that waits already. */
  #keep(owner: string, starts: readonly (() => void)[]): void {
    if (starts.length > 0) this.#waiting.set(owner, starts);
    else this.#waiting.delete(owner);
  }

  #next(): void {
    while (this.#busy.size < this.slots) {
      const turn = [...this.#waiting].find(([owner]) => !this.#busy.has(owner));
      if (turn === undefined) return;
      const [owner, [start, ...more]] = turn;
      // Behind all others that wait.
      this.#waiting.delete(owner);
      this.#keep(owner, more);
      this.#busy.add(owner);
      start?.();
    }
  }
}
