import type { Logger } from 'pino';
import type { Config } from '../platform/config/index.js';
import { type Installation, openInstallation } from './installation.js';
import { prepareInstallation } from './prepare-installation.js';
import { startWorker } from './worker.js';

/** The running parts of a worker, with the installation that they use. */
export interface OpenWorker {
  readonly installation: Installation;
  /** Rejects when a part fails permanently and an operator must act; resolves after `stop`. */
  readonly ended: Promise<void>;
  /** Finishes the current steps, then closes the installation. */
  stop(): Promise<void>;
}

/**
 * Opens the installation and starts every background part.
 * @throws errors of configuration, database, keys and event log, each with a message for the
 *   operator
 */
export async function openWorker(config: Config, logger: Logger): Promise<OpenWorker> {
  const installation = await openInstallation(config, logger, { role: 'worker', migrates: false });
  try {
    await prepareInstallation(installation, { seals: true });
    const worker = await startWorker(installation);
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
