/** A clock that only the test moves, for all code of this process. */
export class VirtualTime {
  now = Date.UTC(2026, 0, 1);
  #timers: { readonly id: number; readonly at: number; readonly run: () => void }[] = [];
  #last = 0;

  /** Replaces the clock, the timers and `Math.random` of the process. */
  install(): void {
    Date.now = () => this.now;
    Math.random = () => 0.5;
    const start = (run: () => void, ms = 0): number => {
      this.#last += 1;
      this.#timers.push({ id: this.#last, at: this.now + ms, run });
      return this.#last;
    };
    const end = (id: number | undefined): void => {
      this.#timers = this.#timers.filter((timer) => timer.id !== id);
    };
    Object.assign(globalThis, { setTimeout: start, clearTimeout: end });
  }

  /** Lets everything go on that waits for no time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const due = this.#timers.filter(({ at }) => at <= this.now);
    if (due.length === 0) return;
    this.#timers = this.#timers.filter(({ at }) => at > this.now);
    for (const { run } of due) run();
    await this.settle();
  }

  /** Lets time pass, from timer to timer. */
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

  /** Forgets all timers, as the end of a process does. */
  forget(): void {
    this.#timers = [];
  }
}
