import type pg from 'pg';
import { waitForLease } from './lease.js';
import { type Log, OperatorNeeded } from './part.js';
import { withAnySignal } from './signals.js';
import { BackOff, pause } from './waiting.js';

/** Work that lasted so long was no failure at start. */
const STEADY_MS = 30_000;

export interface LeasedWork {
  readonly pool: pg.Pool;
  /** Name of the lock, and of the part in log lines. */
  readonly name: string;
  readonly log: Log;
  /** Works until its signal is aborted: by the caller, or because the lock was lost. */
  readonly work: (signal: AbortSignal) => Promise<void>;
}

/**
 * Keeps `work` running under a lock until `signal` is aborted; after a failure, or when the lock was lost, it is started anew with back-off.
 * @throws OperatorNeeded: a failure that no retry resolves
 */
export async function runUnderLease(options: LeasedWork, signal: AbortSignal): Promise<void> {
  const backOff = new BackOff();
  while (!signal.aborted) {
    try {
      const lease = await waitForLease(options.pool, options.name, signal);
      if (lease === null) return;
      const startedAt = performance.now();
      try {
        await withAnySignal([signal, lease.lost], options.work);
      } finally {
        await lease.release();
        if (performance.now() - startedAt > STEADY_MS) backOff.reset();
      }
    } catch (error) {
      if (error instanceof OperatorNeeded) {
        options.log.error({ part: options.name, reason: describe(error) }, 'stopped: an operator must act');
        throw error;
      }
      options.log.warn({ part: options.name, reason: describe(error) }, 'failed; trying again');
    }
    if (!signal.aborted) await pause(backOff.next(), signal);
  }
}

/** Name and message of an error, for a log line. */
export function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
