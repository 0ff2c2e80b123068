import { Worker } from 'node:worker_threads';
import { describe, type ServiceLogger } from '../platform/background/part.js';
import type { HeartbeatLimits } from './heartbeat-monitor.js';

/** Data of the watchdog's thread. */
export interface WatchdogData {
  /** A single counter, which the event loop of the process increments. */
  readonly beats: Int32Array<SharedArrayBuffer>;
  readonly limits: HeartbeatLimits;
}

const TICK_MS = 1_000;
/** Longer than any work on the event loop, even on a busy machine: the watchdog is the last resort. */
const LIMITS: HeartbeatLimits = { tickMs: TICK_MS, silentMs: 60_000, hungMs: 60_000, startMs: 120_000 };

/**
 * Ends this process if its event loop stands still for a minute, so that orchestrators that only restart processes that
 * have ended, such as Docker, replace it. A separate thread watches the loop. The parents of `serve` and `api` do the
 * same for their processes (supervise-process.ts).
 */
export function startWatchdog(logger: Pick<ServiceLogger, 'error'>, limits: HeartbeatLimits = LIMITS): void {
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workerData: WatchdogData = { beats, limits };
  // It inherits no flags of the process, such as the inspector or the heap size.
  const options = { workerData, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 8 } };
  const thread = new Worker(new URL('./watchdog-thread.js', import.meta.url), options);
  thread.on('error', (error) => logger.error({ reason: describe(error) }, 'the watchdog of the event loop ended'));
  thread.unref();
  setInterval(() => Atomics.add(beats, 0, 1), limits.tickMs).unref();
}
