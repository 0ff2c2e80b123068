import type pg from 'pg';
import * as z from 'zod';
import { pause } from './waiting.js';

/** What a part of a worker waits for. */
export interface Look {
  /**
   * Resolves when there may be something to do, after `ms` milliseconds, or when one of `signals` is
   * aborted.
   */
  wait(ms: number, ...signals: readonly AbortSignal[]): Promise<void>;
}

/** Part of a wait after which a part looks for itself, in milliseconds, whatever the conditions say. */
export const LONGEST_WAIT_MS = 30_000;
const EVERY_MS = 1_000;
const Answer = z.tuple([z.record(z.string(), z.boolean())]);

/**
 * Looks once a second whether there is something to do, in one statement for all parts that wait: a
 * service with nothing to do must not use a processor for finding that out.
 */
export class Looks {
  readonly #conditions: string[] = [];
  /** Wakes who waits, by the place of the condition. */
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
    // A condition that could not be asked may be true: the part's own statement says what is wrong.
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
