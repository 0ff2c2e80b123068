/** A timer of the simulated clock. */
interface SimulatedTimer {
  readonly id: number;
  readonly at: number;
  readonly everyMs: number | null;
  readonly fire: () => void;
}

/** The result of `setTimeout`: `pg` and its pool call `unref`. */
class TimerHandle {
  constructor(readonly id: number) {}
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  [Symbol.toPrimitive](): number {
    return this.id;
  }
}

/** Names of `globalThis` that the simulated clock replaces. */
const REPLACED = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] as const;

/**
 * The clock of a history: timers, `Date` and `performance.now` of this process. Time passes only when a
 * history lets it. The mocked timers of Vitest need a millisecond of real time for each step.
 */
export class SimulatedClock {
  #now: number;
  #last = 0;
  readonly #began: number;
  readonly #timers = new Map<number, SimulatedTimer>();
  readonly #system: ReadonlyMap<string, unknown> = new Map(
    REPLACED.map((name) => [name, Reflect.get(globalThis, name)]),
  );

  /** @param now Unix milliseconds */
  constructor(now: number) {
    this.#now = now;
    this.#began = now;
  }

  /** Unix milliseconds. */
  get now(): number {
    return this.#now;
  }

  /** Milliseconds since the beginning of the history. */
  get elapsed(): number {
    return this.#now - this.#began;
  }

  install(): void {
    const add =
      (everyMs: (ms: number) => number | null) =>
      (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        this.#add(() => work(...args), Math.max(ms, 1), everyMs(Math.max(ms, 1)));
    const clear = (timer: unknown): void => {
      if (timer instanceof TimerHandle) this.#timers.delete(timer.id);
    };
    const clock = this;
    const SystemDate = Date;
    class SimulatedDate extends SystemDate {
      constructor(given?: string | number | Date) {
        super(given ?? clock.now);
      }
      static override now(): number {
        return clock.now;
      }
    }
    Reflect.set(
      globalThis,
      'setTimeout',
      add(() => null),
    );
    Reflect.set(
      globalThis,
      'setInterval',
      add((ms) => ms),
    );
    Reflect.set(globalThis, 'clearTimeout', clear);
    Reflect.set(globalThis, 'clearInterval', clear);
    Reflect.set(globalThis, 'Date', SimulatedDate);
    Object.defineProperty(performance, 'now', { configurable: true, value: () => this.elapsed });
  }

  /** Gives the process the clock of the system back; what waits never fires. */
  uninstall(): void {
    for (const [name, value] of this.#system) Reflect.set(globalThis, name, value);
    Reflect.deleteProperty(performance, 'now');
    this.#timers.clear();
  }

  /** Lets time pass until the next timer, and fires it. @returns false if there is none */
  advance(): boolean {
    let next: SimulatedTimer | null = null;
    for (const timer of this.#timers.values())
      if (next === null || timer.at < next.at || (timer.at === next.at && timer.id < next.id)) next = timer;
    if (next === null) return false;
    this.#now = Math.max(this.#now, next.at);
    if (next.everyMs === null) this.#timers.delete(next.id);
    else this.#timers.set(next.id, { ...next, at: this.#now + next.everyMs });
    next.fire();
    return true;
  }

  #add(fire: () => void, ms: number, everyMs: number | null): TimerHandle {
    this.#last += 1;
    this.#timers.set(this.#last, { id: this.#last, at: this.#now + ms, everyMs, fire });
    return new TimerHandle(this.#last);
  }
}
