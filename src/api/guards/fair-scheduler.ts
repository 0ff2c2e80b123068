import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../../schemas/api/error-codes.js';

export interface FairTurnsOptions {
  /** Number of turns that may run at a time. */
  readonly slots: number;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Time that a slot stays empty after a turn, as a multiple of the turn's length. */
  readonly pause?: number;
  /** Limit of waiting work of all owners together. Further work is refused. */
  readonly maxWaiting?: number;
  /** Limit of waiting work of one owner, so that no owner takes all the places. */
  readonly maxOfOwner?: number;
}

/** Time yielded per unit of work: the share of the main thread that other requests get. */
const YIELD_RATIO = 3;
/** Upper bounds of one yield and of one pause, in milliseconds. */
const MAX_YIELD_MS = 500;
const MAX_PAUSE_MS = 1000;
const RETRY_AFTER_SECONDS = 2;
/** Work of less time, in milliseconds, continues without yielding. */
const MIN_WORK_MS = 2;

/**
 * Waits after a step of work on the main thread, so that other requests are answered before the
 * next step. Short steps are taken together.
 */
export type YieldToOthers = () => Promise<void>;

/** Starts to measure work. @param now milliseconds of a monotonic clock */
export function createYieldToOthers(now: () => number): YieldToOthers {
  let since = now();
  return async () => {
    const worked = now() - since;
    if (worked < MIN_WORK_MS) return;
    await sleep(Math.min(MAX_YIELD_MS, YIELD_RATIO * worked));
    since = now();
  };
}

/**
 * Runs expensive requests in turns. Each owner has one turn at a time, and between two of its turns waits for at most
 * one turn of each other owner. A few owners with many or large requests can therefore neither monopolise the main
 * thread nor starve the others.
 */
export class FairScheduler {
  /** Owners whose turn is running: each has one at a time. */
  readonly #busy = new Set<string>();
  /** Callbacks that start the waiting work, by owner, in the order of the owners' next turns. */
  readonly #waiting = new Map<string, readonly (() => void)[]>();

  readonly #now: () => number;
  #waitingCount = 0;

  constructor(private readonly options: FairTurnsOptions) {
    this.#now = options.now;
  }

  /**
   * Does the work when its turn comes.
   * @param work the work, which calls its argument between its steps
   * @param gone a signal that is aborted when the client no longer waits for the result. Work that has not started is
   * then dropped; otherwise clients that disconnect would fill the queue.
   * @throws ApiError SERVICE_UNAVAILABLE if too much work waits; the reason of `gone` if the work was
   *   dropped; errors of the work
   */
  async take<T>(owner: string, work: (yieldToOthers: YieldToOthers) => Promise<T>, gone?: AbortSignal): Promise<T> {
    await this.#turnOf(owner, gone);
    const startedAt = this.#now();
    try {
      return await work(createYieldToOthers(this.#now));
    } finally {
      const end = (): void => {
        this.#busy.delete(owner);
        this.#next();
      };
      const { pause = 0 } = this.options;
      if (pause === 0) end();
      else setTimeout(end, Math.min(MAX_PAUSE_MS, pause * (this.#now() - startedAt)));
    }
  }

  /**
   * Reads pages, each in a turn of its own, so that a reader of a long list, or a slow reader, makes nobody wait.
   * @throws what `take` throws, and errors of the pages
   */
  async *pages<T>(owner: string, pages: AsyncGenerator<T, void>, gone?: AbortSignal): AsyncGenerator<T, void> {
    for (;;) {
      const next = await this.take(owner, () => pages.next(), gone);
      if (next.done === true) return;
      yield next.value;
    }
  }

  #turnOf(owner: string, gone: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (gone?.aborted === true) return reject(gone.reason);
      const { maxWaiting = Number.POSITIVE_INFINITY, maxOfOwner = Number.POSITIVE_INFINITY } = this.options;
      if (this.#waitingCount >= maxWaiting || this.#waitingOf(owner).length >= maxOfOwner)
        return reject(new ApiError('SERVICE_UNAVAILABLE', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS }));
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

  /** Adds waiting work of an owner without changing the owner's place in the queue. */
  #keep(owner: string, starts: readonly (() => void)[]): void {
    this.#waitingCount += starts.length - this.#waitingOf(owner).length;
    if (starts.length > 0) this.#waiting.set(owner, starts);
    else this.#waiting.delete(owner);
  }

  #next(): void {
    while (this.#busy.size < this.options.slots) {
      const turn = [...this.#waiting].find(([owner]) => !this.#busy.has(owner));
      if (turn === undefined) return;
      const [owner, [start, ...more]] = turn;
      // The owner goes to the end of the queue.
      this.#keep(owner, []);
      this.#keep(owner, more);
      this.#busy.add(owner);
      start?.();
    }
  }
}
