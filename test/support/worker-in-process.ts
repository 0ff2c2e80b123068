import type { Logger } from 'pino';
import { type OpenWorker, openWorker } from '../../src/app/open-worker.js';
import type { WorkerBeside } from '../../src/app/supervise-worker.js';
import type { Config } from '../../src/platform/config/index.js';

/**
 * The worker of `serve` in the process of the test, for tests that do not concern processes: with
 * the same code as the worker process, but without its messages.
 */
export function workerInProcess(config: Config, logger: Logger): WorkerBeside {
  let worker: OpenWorker | null = null;
  return {
    start: async () => {
      worker = await openWorker(config, logger);
    },
    failed: new Promise(() => undefined),
    isRunning: () => worker !== null,
    restarts: () => 0,
    metrics: async () => (await worker?.installation.metrics.json()) ?? [],
    stop: async () => worker?.stop(),
  };
}
