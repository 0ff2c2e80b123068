/** Pauses that double with each failure in a row, up to a limit, so that a server that comes back is not stampeded. */
export class BackOff {
  #failures = 0;

  constructor(
    private readonly firstMs = 100,
    private readonly maxMs = 5_000,
  ) {}

  /** Milliseconds to wait after one more failure; a random quarter is taken off, so that clients spread out. */
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
 * Resolves after `ms` milliseconds, or at once when one of `signals` is aborted. No listener stays
 * with the signals.
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

/** No answer within the time allowed. What was asked may still happen. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** The promise's outcome, or `DeadlinePassed` after `ms` milliseconds. The work itself is not cancelled: that is the caller's to do. */
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
