import type pg from 'pg';
import * as z from 'zod';

/**
 * Pauses that double with each consecutive failure up to a limit, so that clients do not overload a
 * recovering server.
 */
export class BackOff {
  #failures = 0;

  constructor(
    private readonly firstMs = 100,
    private readonly maxMs = 5_000,
  ) {}

  /**
   * Returns the milliseconds to wait after a further failure. Up to a quarter is subtracted at
   * random, so that clients do not retry at the same time.
   */
  next(): number {
    const full = Math.min(this.firstMs * 2 ** this.#failures, this.maxMs);
    this.#failures += 1;
    return full * (1 - Math.random() / 4);
  }

  reset(): void {
    this.#failures = 0;
  }
}

/**
 * Resolves after `ms` milliseconds, or immediately when one of `signals` is aborted. It leaves no
 * listener on the signals.
 */
export function pause(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    if (signals.some((signal) => signal.aborted)) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    for (const signal of signals) signal.addEventListener('abort', done, { once: true });
  });
}

/** No response before the deadline. The requested operation may still happen. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/**
 * Returns the result of the promise. The work itself is not cancelled; the caller does that.
 * @throws DeadlinePassed after `ms` milliseconds
 */
export async function withDeadline<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DeadlinePassed(ms)), ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The pause between two turns of a loop, which a notification ends early. A loop calls `begin`
 * before it looks for work. A notification during the turn then ends the next pause immediately.
 */
export class WakeUp {
  #turn = new AbortController();

  /** Begins a turn and discards earlier notifications. */
  begin(): void {
    this.#turn = new AbortController();
  }

  /** Ends the pause of this turn, now or as soon as it begins. */
  wake(): void {
    this.#turn.abort();
  }

  /** Aborted when the pause of this turn ends early. */
  get woken(): AbortSignal {
    return this.#turn.signal;
  }

  /** Resolves after `ms` milliseconds, after `wake`, or when `signal` is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    return pause(ms, signal, this.#turn.signal);
  }
}

/** What a part of a worker waits for. */
export interface Look {
  /**
   * Resolves when there may be something to do, after `ms` milliseconds, or when one of `signals` is
   * aborted.
   */
  wait(ms: number, ...signals: readonly AbortSignal[]): Promise<void>;
}

/** Longest time, in milliseconds, after which a part checks for itself, regardless of the conditions. */
export const LONGEST_WAIT_MS = 30_000;
const EVERY_MS = 1_000;
const Answer = z.tuple([z.record(z.string(), z.boolean())]);

/**
 * Checks once a second whether there is something to do, with one statement for all waiting parts, so that an idle
 * service does not use up a processor.
 */
export class Looks {
  readonly #conditions: string[] = [];
  /** The waiting parts, each with the index of its condition. */
  readonly #sleepers = new Set<{ readonly place: string; readonly wake: () => void }>();
  #timer: NodeJS.Timeout | null = null;

  /** @param everyMs pause between two looks, in milliseconds */
  constructor(
    private readonly db: Pick<pg.Pool, 'query'>,
    private readonly everyMs = EVERY_MS,
  ) {}

  /** @param condition SQL of a boolean without parameters: whether there may be something to do */
  add(condition: string): Look {
    const place = `c${this.#conditions.push(condition)}`;
    return { wait: (ms, ...signals) => this.#wait(place, ms, signals) };
  }

  async #wait(place: string, ms: number, signals: readonly AbortSignal[]): Promise<void> {
    const woken = new AbortController();
    const sleeper = { place, wake: () => woken.abort() };
    this.#sleepers.add(sleeper);
    this.#begin();
    await pause(ms, woken.signal, ...signals);
    this.#sleepers.delete(sleeper);
  }

  #begin(): void {
    this.#timer ??= setTimeout(() => void this.#look(), this.everyMs);
  }

  async #look(): Promise<void> {
    // If a condition could not be evaluated, it may be true. The part's own statement will report what is wrong.
    const found = this.#sleepers.size === 0 ? {} : await this.#ask().catch(() => null);
    this.#timer = null;
    for (const { place, wake } of this.#sleepers) if (found === null || found[place] === true) wake();
    if (this.#sleepers.size > 0) this.#begin();
  }

  async #ask(): Promise<Readonly<Record<string, boolean>>> {
    const columns = this.#conditions.map((condition, at) => `(${condition}) as c${at + 1}`);
    const { rows } = await this.db.query({
      name: `looks_${columns.length}`,
      text: `select ${columns.join(', ')}`,
      values: [],
    });
    return Answer.parse(rows)[0];
  }
}
