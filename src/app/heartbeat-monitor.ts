export interface HeartbeatLimits {
  /** Interval of `tick`, in milliseconds. */
  readonly tickMs: number;
  /** HeartbeatMonitor from which on the other process counts as silent, and as hung. */
  readonly silentMs: number;
  readonly hungMs: number;
  /** As `hungMs`, until the process has started: to load its program takes long where processors are scarce. */
  readonly startMs: number;
}

/**
 * Measures for how long another process has given no sign of life. It counts the ticks of a timer
 * instead of reading a clock: if this process did not run either, as on a machine that was asleep, the
 * silence says nothing about the other one.
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
