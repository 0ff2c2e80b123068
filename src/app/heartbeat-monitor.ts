export interface HeartbeatLimits {
  /** Interval of `tick`, in milliseconds. */
  readonly tickMs: number;
  /** Milliseconds without a sign of life after which the other process counts as silent. */
  readonly silentMs: number;
  readonly hungMs: number;
  /** Replaces `hungMs` until the process has started: loading its program takes long on a busy machine. */
  readonly startMs: number;
}

/**
 * Measures for how long another process has given no sign of life. It counts the ticks of a timer instead of reading a
 * clock: if this process did not run either, for example because the machine was asleep, the silence says nothing about
 * the other one.
 */
export class HeartbeatMonitor {
  #ticks = 0;
  #hasStarted = false;

  constructor(private readonly limits: HeartbeatLimits) {}

  heard(): void {
    this.#ticks = 0;
  }

  started(): void {
    this.#hasStarted = true;
  }

  tick(): 'alive' | 'silent' | 'hung' {
    this.#ticks += 1;
    const ms = this.#ticks * this.limits.tickMs;
    if (ms >= (this.#hasStarted ? this.limits.hungMs : this.limits.startMs)) return 'hung';
    return this.#hasStarted && ms >= this.limits.silentMs ? 'silent' : 'alive';
  }
}
