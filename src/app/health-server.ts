import { PROJECTIONS } from '../../projections/index.js';
import { createApp } from '../api/server/app.js';
import { healthRoutes, type Readiness } from '../api/server/health.js';
import { stoppedProjections } from '../pipeline/projector/index.js';
import type { Api } from './api.js';
import type { Installation } from './installation.js';
import { listen } from './listen.js';
import { metricsGroup, observeApp } from './observe-app.js';

/**
 * The HTTP application of a worker: liveness, readiness (database, event log and projections) and
 * metrics.
 */
export function createHealthServer(installation: Installation): Api {
  const { config, logger, workerPool, eventLog, keyring } = installation;
  const checkReadiness = async (): Promise<Readiness> => {
    await eventLog.ping();
    await keyring.verifyMasterKey();
    const stopped = await stoppedProjections(workerPool, PROJECTIONS);
    if (stopped.length > 0)
      throw new Error(`stopped projections: ${stopped.join(', ')}; run \`consent-ledger projections status\``);
    return { stoppedProjections: [], isWorkerDown: false, isLogAway: false };
  };
  const app = createApp(
    { log: logger, trustedProxies: [], drain: { lameDuckMs: 0, graceMs: config.http.drainGraceMs } },
    [(scope) => healthRoutes(scope, checkReadiness), metricsGroup(installation, workerPool)],
  );
  observeApp(app, installation);
  return {
    listen: () => listen(app, config.http),
    stop: async () => {
      await app.close();
    },
  };
}
