/** Limits the time of one check of a ledger, so that a slow service cannot keep an auditor from raising an alarm. */
export class LookLimit {
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout;

  /** @param ms milliseconds until the check ends; at most Node's largest timer */
  constructor(
    readonly outer: AbortSignal | undefined,
    readonly ms: number,
  ) {
    this.#timer = this.#start();
  }

  /** Aborted at the end of the time, or of the program. */
  get signal(): AbortSignal {
    const { signal } = this.#stopping;
    return this.outer === undefined ? signal : AbortSignal.any([signal, this.outer]);
  }

  /** Restarts the timer. The first audit of a large ledger takes long, and is exempt while it makes progress. */
  readonly advance = (): void => {
    if (this.#stopping.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  };

  end(): void {
    clearTimeout(this.#timer);
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.#stopping.abort(), Math.min(this.ms, 2 ** 31 - 1));
  }
}
