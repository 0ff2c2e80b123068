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
