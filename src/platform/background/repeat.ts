import type { ServiceLogger } from './part.js';
import { describe } from './run-under-lease.js';
import { BackOff, pause } from './waiting.js';

/**
 * Repeats a step until `signal` is aborted. A failed step is logged, and repeated after a back-off.
 * @param part name for the log
 * @param step returns the milliseconds until the next one; 0: at once
 */
export async function repeat(
  part: string,
  logger: ServiceLogger,
  signal: AbortSignal,
  step: () => Promise<number>,
): Promise<void> {
  const backOff = new BackOff();
  while (!signal.aborted) {
    try {
      const pauseMs = await step();
      backOff.reset();
      if (pauseMs > 0) await pause(pauseMs, signal);
    } catch (error) {
      logger.warn({ part, reason: describe(error) }, 'failed; trying again');
      await pause(backOff.next(), signal);
    }
  }
}
