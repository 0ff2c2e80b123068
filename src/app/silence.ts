export interface SilenceLimits {
  /** Interval of `tick`, in milliseconds. */
  readonly tickMs: number;
  /** Silence from which on the other process counts as silent, and as hung. */
  readonly silentMs: number;
  readonly hungMs: number;
  /** As `hungMs`, before the first sign of life: the process loads its program. */
  readonly startMs: number;
}

/**
 * Measures for how long another process has given no sign of life. It counts the ticks of a timer
 * instead of reading a clock: if this process did not run either, as on a machine that was asleep, the
 * silence says nothing about the other one.
 */
export class Silence {
  #ticks = 0;
  #wasHeard = false;

  constructor(private readonly limits: SilenceLimits) {}

  heard(): void {
    this.#ticks = 0;
    this.#wasHeard = true;
  }

  tick(): 'alive' | 'silent' | 'hung' {
    this.#ticks += 1;
    const ms = this.#ticks * this.limits.tickMs;
    if (ms >= (this.#wasHeard ? this.limits.hungMs : this.limits.startMs)) return 'hung';
    return this.#wasHeard && ms >= this.limits.silentMs ? 'silent' : 'alive';
  }
}
