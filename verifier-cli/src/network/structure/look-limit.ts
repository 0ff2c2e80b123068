/** The time that one look at a ledger may take. A service that is slow must not keep an auditor without an alarm. */
export class LookLimit {
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout;

  /** @param ms until the look ends; the largest timer of Node at most */
  constructor(
    readonly outer: AbortSignal | undefined,
    readonly ms: number,
  ) {
    this.#timer = this.#start();
  }

  /** Aborted at the end of the look, or of the program. */
  get signal(): AbortSignal {
    const { signal } = this.#stopping;
    return this.outer === undefined ? signal : AbortSignal.any([signal, this.outer]);
  }

  /** Begins the time anew: a first audit of a large ledger takes long, and is exempt while it advances. */
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
