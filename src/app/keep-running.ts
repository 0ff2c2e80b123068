import { LogDamaged } from '../pipeline/event-log/errors.js';
import { type BackgroundPart, describe, type ServiceLogger } from '../platform/background/part.js';
import { BackOff, pause } from '../platform/background/waiting.js';
import type { ReadinessReason } from '../platform/health.js';

export interface KeepOptions {
  readonly logger: ServiceLogger;
  /** Pauses before a part that met damage runs again, in milliseconds: they double up to the last. */
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
  /** Age of a run from which on the damage before it counts as repaired, in milliseconds. */
  readonly steadyMs?: number;
}

/** Returns the reason for `/readyz` while a damaged log waits for an operator. */
export function logDamaged({ name }: LogDamaged): readonly ReadinessReason[] {
  return [{ code: 'log_damaged', names: [name] }];
}

/**
 * Returns a part that waits while the log is damaged, and runs again from time to time, so that it
 * goes on by itself after the repair. The other parts run on: a damaged log ends no process.
 */
export function keepRunning(part: BackgroundPart, options: KeepOptions): BackgroundPart {
  const { logger, firstPauseMs = 1_000, longestPauseMs = 30_000, steadyMs = 5_000 } = options;
  let damage: LogDamaged | null = null;
  const run = async (signal: AbortSignal): Promise<void> => {
    const backOff = new BackOff(firstPauseMs, longestPauseMs);
    while (!signal.aborted) {
      const repaired = setTimeout(() => {
        damage = null;
        backOff.reset();
      }, steadyMs);
      try {
        return await part.run(signal);
      } catch (error) {
        if (!(error instanceof LogDamaged)) throw error;
        damage = error;
        logger.error(
          { part: part.name, reason: describe(error) },
          'this part stopped until an operator acts; the other parts keep running',
        );
      } finally {
        clearTimeout(repaired);
      }
      await pause(backOff.next(), signal);
    }
  };
  return {
    name: part.name,
    run,
    status: () => part.status(),
    reasons: () => [...(part.reasons?.() ?? []), ...(damage === null ? [] : logDamaged(damage))],
  };
}
