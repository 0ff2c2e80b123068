import type { Logger } from 'pino';
import { assertConnectionsFit } from './connection-room.js';
import type { Handover, ServerRun } from './follow-server.js';
import { openInstallation } from './installation.js';
import { type RunningWorker, runWorker } from './worker.js';

/** A worker on one database server, without an HTTP application. */
export type WorkerRun = ServerRun & Pick<RunningWorker, 'begun' | 'prepared' | 'reasons'>;

/**
 * Opens the installation, and runs every background part as soon as the event log answers and the
 * ledger is compared.
 * @param onWaiting a function that is called when the parts cannot run yet, and run later
 * @throws errors of configuration, database and keys
 */
export async function startWorkerRun(
  { config, memory }: Pick<Handover, 'config' | 'memory'>,
  logger: Logger,
  onWaiting?: () => void,
): Promise<WorkerRun> {
  const installation = await openInstallation(config, logger, { role: 'worker', migrates: false, signs: true, memory });
  await assertConnectionsFit(installation).catch(async (error: unknown) => {
    await installation.close();
    throw error;
  });
  const worker = runWorker(installation, onWaiting);
  // Nothing may be sealed or stamped while the next run prepares.
  installation.server.lost.catch(() => worker.stop()).catch(() => undefined);
  const { begun, prepared, reasons } = worker;
  const failed = new Promise<never>((_, reject) => {
    worker.ended.catch(reject);
  });
  failed.catch(() => undefined);
  return {
    installation,
    begun,
    prepared,
    reasons,
    failed,
    url: '',
    stop: async () => {
      await worker.stop();
      await installation.close();
    },
  };
}
