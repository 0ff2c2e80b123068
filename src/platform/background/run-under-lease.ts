import type pg from 'pg';
import { type Lease, waitForLease } from './lease.js';
import { OperatorNeeded, type ServiceLogger } from './part.js';
import { withAnySignal } from './signals.js';
import { BackOff, pause } from './waiting.js';

/** Work that ran at least this long did not fail at start. */
const STEADY_MS = 30_000;

export interface LeasedWork {
  readonly db: pg.Pool;
  /** Name of the lock and of the part in log entries. */
  readonly name: string;
  readonly logger: ServiceLogger;
  /** Works until its signal is aborted, by the caller or by the loss of the lock. */
  readonly work: (signal: AbortSignal, lease: Lease) => Promise<void>;
}

/**
 * Runs `work` under a lock until `signal` is aborted. After a failure or the loss of the lock, it
 * is restarted with back-off.
 * @throws OperatorNeeded for a failure that no retry resolves
 */
export async function runUnderLease(options: LeasedWork, signal: AbortSignal): Promise<void> {
  const backOff = new BackOff();
  while (!signal.aborted) {
    try {
      const lease = await waitForLease(options.db, options.name, signal);
      if (lease === null) return;
      const startedAt = performance.now();
      try {
        await withAnySignal([signal, lease.lost], (leased) => options.work(leased, lease));
      } finally {
        await lease.release();
        if (performance.now() - startedAt > STEADY_MS) backOff.reset();
      }
    } catch (error) {
      if (error instanceof OperatorNeeded) {
        options.logger.error({ part: options.name, reason: describe(error) }, 'stopped: an operator must act');
        throw error;
      }
      options.logger.warn({ part: options.name, reason: describe(error) }, 'failed; trying again');
    }
    if (!signal.aborted) await pause(backOff.next(), signal);
  }
}

/** Returns name and message of an error for a log entry. */
export function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
