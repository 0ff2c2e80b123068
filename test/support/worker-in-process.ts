import type { Logger } from 'pino';
import { type Installation, openInstallation } from '../../src/app/installation.js';
import { type RunningWorker, runWorker } from '../../src/app/run-worker.js';
import type { WorkerBeside } from '../../src/app/supervise-worker.js';
import type { Config } from '../../src/platform/config/index.js';

/**
 * The worker of `serve` in the process of the test, for tests that do not concern processes: with
 * the same code as the worker process, but without its messages.
 */
export function workerInProcess(config: Config, logger: Logger): WorkerBeside {
  let installation: Installation | null = null;
  let worker: RunningWorker | null = null;
  let onPrepared = (): void => undefined;
  const prepared = new Promise<void>((resolve) => {
    onPrepared = resolve;
  });
  return {
    prepared,
    start: async () => {
      installation = await openInstallation(config, logger, { role: 'worker', migrates: false });
      worker = runWorker(installation);
      // Tests alter rows so that a part ends, and look at what it logs.
      worker.prepared.then(onPrepared, () => undefined);
      await worker.begun;
    },
    failed: new Promise(() => undefined),
    reasons: () => worker?.reasons() ?? [],
    restarts: () => 0,
    metrics: async () => (await installation?.metrics.json()) ?? [],
    stop: async () => {
      await worker?.stop();
      await installation?.close();
    },
  };
}
