import type { Logger } from 'pino';
import type { Config } from '../platform/config/index.js';
import { type Installation, openInstallation } from './installation.js';
import { whenLogAnswers } from './prepare-installation.js';
import { startWorker } from './worker.js';

/** The running parts of a worker, with the installation that they use. */
export interface OpenWorker {
  readonly installation: Installation;
  /** Rejects when a part fails permanently and an operator must act; resolves after `stop`. */
  readonly ended: Promise<void>;
  /** Finishes the current steps, then closes the installation. */
  stop(): Promise<void>;
}

export interface OpenWorkerOptions {
  /** Called when the event log does not answer yet, so that the parts run later. */
  readonly onWaiting?: () => void;
  /** Ends the wait for the log. */
  readonly signal?: AbortSignal;
}

/**
 * Opens the installation and starts every background part, as soon as the event log answers.
 * @returns null if the wait for the log was ended
 * @throws errors of configuration, database, keys and event log, each with a message for the
 *   operator
 */
export async function openWorker(
  config: Config,
  logger: Logger,
  { onWaiting = () => undefined, signal = new AbortController().signal }: OpenWorkerOptions = {},
): Promise<OpenWorker | null> {
  const installation = await openInstallation(config, logger, { role: 'worker', migrates: false });
  try {
    const wait = { seals: true, onWaiting, signal };
    const worker = await whenLogAnswers(installation, wait, () => startWorker(installation));
    if (worker === null) {
      await installation.close();
      return null;
    }
    return {
      installation,
      ended: worker.ended,
      stop: async () => {
        await worker.stop();
        await installation.close();
      },
    };
  } catch (error) {
    await installation.close();
    throw error;
  }
}
