import type { Logger } from 'pino';
import type { Config } from '../platform/config/index.js';
import { type Api, createApi } from './api.js';
import { createHealthServer } from './health-server.js';
import { type Installation, openInstallation } from './installation.js';
import { prepareInstallation, startWorker, type Worker } from './worker.js';

/** A role of a process; `serve` is `api` and `worker` in one process. */
export type Role = 'serve' | 'api' | 'worker';

export interface Service {
  readonly installation: Installation;
  /** URL of the HTTP application, or of the worker's health routes. */
  readonly url: string;
  /** Rejects when a background part fails permanently and an operator must act. */
  readonly failed: Promise<never>;
  /**
   * Stops the parts in the order of the pipeline: accepted requests and background steps are
   * completed.
   */
  stop(): Promise<void>;
}

/**
 * Composes and starts a role of the service.
 * @throws errors of configuration, database, keys and event log, each with a message for the
 *   operator
 */
export async function startService(role: Role, config: Config, logger: Logger): Promise<Service> {
  const installation = await openInstallation(config, logger, { role, migrates: role === 'serve' });
  const started: { stop(): Promise<void> }[] = [{ stop: () => installation.close() }];
  const stop = async (): Promise<void> => {
    for (const part of started.splice(0).reverse()) await part.stop();
  };
  try {
    await prepareInstallation(installation, { seals: role !== 'api' });
    let worker: Worker | null = null;
    if (role !== 'api') {
      worker = await startWorker(installation);
      started.push(worker);
    }
    const front: Api = role === 'worker' ? createHealthServer(installation) : await createApi(installation);
    started.push(front);
    const url = await front.listen();
    return { installation, url, failed: failureOf(worker), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function failureOf(worker: Worker | null): Promise<never> {
  return new Promise((_, reject) => {
    worker?.ended.catch(reject);
  });
}
