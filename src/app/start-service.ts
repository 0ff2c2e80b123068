import type { Logger } from 'pino';
import type { Config } from '../platform/config/index.js';
import { type Api, createApi } from './api.js';
import { createHealthServer } from './health-server.js';
import { type Installation, openInstallation } from './installation.js';
import { prepareInstallation, startWorker, type Worker } from './worker.js';

/** `serve` is `api` and `worker` in one process. */
export type Role = 'serve' | 'api' | 'worker';

export interface Service {
  readonly installation: Installation;
  /** Where the HTTP application, or the worker's health routes, listen. */
  readonly url: string;
  /** Rejects when a background part cannot go on without an operator. */
  readonly failed: Promise<never>;
  /** Stops in the order of the pipeline: no accepted request is cut off, no background step left half done. */
  stop(): Promise<void>;
}

/**
 * Composes and starts a role of the service: the one place where its parts meet.
 * @throws errors of configuration, database, keys and event log, each with a message for the operator
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
