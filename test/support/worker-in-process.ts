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
  let opening: Promise<void> = Promise.resolve();
  const stopping = new AbortController();
  let onPrepared = (): void => undefined;
  const prepared = new Promise<void>((resolve) => {
    onPrepared = resolve;
  });
  return {
    prepared,
    start: () => {
      const waiting = new Promise<void>((resolve) => {
        opening = openWorker(config, logger, { onWaiting: resolve, signal: stopping.signal }).then((opened) => {
          worker = opened;
          // Tests alter rows so that a part ends, and look at what it logs.
          opened?.ended.catch(() => undefined);
          onPrepared();
        });
      });
      return Promise.race([waiting, opening]);
    },
    failed: new Promise(() => undefined),
    isRunning: () => worker !== null,
    restarts: () => 0,
    metrics: async () => (await worker?.installation.metrics.json()) ?? [],
    stop: async () => {
      stopping.abort();
      await opening.catch(() => undefined);
      await worker?.stop();
    },
  };
}
