/** The clock, the timers and the random numbers of a process or of a window. */
export interface Timed {
  readonly Date: DateConstructor;
  readonly Math: Math;
}

const START = Date.UTC(2026, 0, 1);
/** Turns of the event loop in which everything goes on that waits for no time. */
const TURNS = 6;

/** One turn of the event loop, by a function that nothing has replaced. */
const turn = turnOf();

/** A clock that only the suite moves, for all code of a process or of a window. */
export class VirtualClock {
  now = START;
  #timers: { readonly id: number; readonly at: number; readonly run: () => void }[] = [];
  #last = 0;
  #underWay = 0;

  /**
   * Replaces the clock, the timers and `Math.random`.
   * @param target the process, or a window
   * @returns a function that puts them back
   */
  install(target: Timed = globalThis): () => void {
    const { Date: dates, Math: numbers } = target;
    const before = { now: dates.now, random: numbers.random };
    const timers = {
      setTimeout: Reflect.get(target, 'setTimeout'),
      clearTimeout: Reflect.get(target, 'clearTimeout'),
    };
    dates.now = () => this.now;
    numbers.random = () => 0.5;
    const start = (run: () => void, ms = 0): number => {
      this.#last += 1;
      this.#timers.push({ id: this.#last, at: this.now + ms, run });
      return this.#last;
    };
    const end = (id: number | undefined): void => {
      this.#timers = this.#timers.filter((timer) => timer.id !== id);
    };
    Object.assign(target, { setTimeout: start, clearTimeout: end });
    return () => {
      dates.now = before.now;
      numbers.random = before.random;
      Object.assign(target, timers);
    };
  }

  /** Lets the clock wait for something that needs no time of the visitor, but several turns of the event loop. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await work;
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Waits for time of this clock to pass, also while nothing is replaced. @param ms milliseconds */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#last += 1;
      this.#timers.push({ id: this.#last, at: this.now + ms, run: resolve });
    });
  }

  /** Lets everything go on that waits for no time. */
  async settle(): Promise<void> {
    for (let left = TURNS; left > 0; left = this.#underWay > 0 ? TURNS : left - 1) await turn();
    const due = this.#timers.filter(({ at }) => at <= this.now);
    if (due.length === 0) return;
    this.#timers = this.#timers.filter(({ at }) => at > this.now);
    for (const { run } of due) run();
    await this.settle();
  }

  /** Lets time pass, from timer to timer. @param ms milliseconds */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    await this.settle();
    for (;;) {
      const next = Math.min(...this.#timers.map(({ at }) => at));
      if (next > end) break;
      this.now = Math.max(this.now, next);
      await this.settle();
    }
    this.now = end;
    await this.settle();
  }
}

function turnOf(): () => Promise<void> {
  const immediate: unknown = Reflect.get(globalThis, 'setImmediate');
  if (typeof immediate === 'function')
    return () => new Promise((resolve) => Reflect.apply(immediate, globalThis, [resolve]));
  return () =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      Reflect.set(port1, 'onmessage', () => {
        port1.close();
        resolve();
      });
      port2.postMessage(null);
    });
}
