import type { Logger } from 'pino';
import { followServer, type ServerRun } from '../../src/app/follow-server.js';
import { historyReasons } from '../../src/app/readiness.js';
import type { WorkerBeside } from '../../src/app/supervise-process.js';
import { startWorkerRun, type WorkerRun } from '../../src/app/worker-run.js';
import type { Config } from '../../src/platform/config/index.js';

/**
 * The worker of `serve` in the process of the test, for tests that do not concern processes: with
 * the same code as the worker process, but without its messages.
 */
export function workerInProcess(config: Config, logger: Logger): WorkerBeside {
  let following: ServerRun | null = null;
  let worker: WorkerRun | null = null;
  let onPrepared = (): void => undefined;
  const prepared = new Promise<void>((resolve) => {
    onPrepared = resolve;
  });
  return {
    prepared,
    start: async () => {
      following = await followServer({
        config,
        logger,
        open: async (turn) => {
          const life = await startWorkerRun(turn, logger);
          try {
            await life.begun;
          } catch (error) {
            await life.stop();
            throw error;
          }
          await turn.begins();
          // Tests alter rows so that a part ends, and look at what it logs.
          life.prepared.then(onPrepared, () => undefined);
          worker = life;
          return life;
        },
      });
    },
    failed: new Promise(() => undefined),
    reasons: () => (worker === null ? [] : [...historyReasons(worker.installation.server), ...worker.reasons()]),
    restarts: () => 0,
    metrics: async () => (await worker?.installation.metrics.json()) ?? [],
    stop: async () => {
      await following?.stop();
    },
  };
}
