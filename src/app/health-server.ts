import { createApp } from '../api/server/app.js';
import { healthRoutes } from '../api/server/health.js';
import type { ReadinessReason } from '../platform/health.js';
import type { Api } from './api.js';
import type { Installation } from './installation.js';
import { listen, metricsGroup, observeApp } from './listen.js';
import { databaseSource, historySource, logSource, readinessOf, workerSource } from './readiness.js';

/**
 * The HTTP application of a worker: liveness, readiness (database, event log, projections and the
 * worker's parts) and metrics.
 * @param reasons returns why the parts do not do all their work
 */
export function createHealthServer(
  installation: Installation,
  reasons: () => readonly ReadinessReason[],
): Pick<Api, 'listen' | 'stop'> {
  const { config, logger, workerPool, eventLog } = installation;
  const readiness = readinessOf(installation, [
    historySource(installation),
    databaseSource(installation),
    logSource(eventLog),
    workerSource({ reasons }),
  ]);
  const app = createApp(
    { log: logger, trustedProxies: [], drain: { lameDuckMs: () => 0, graceMs: config.http.drainGraceMs } },
    [(scope) => healthRoutes(scope, { readiness, serving: 'nobody' }), metricsGroup(installation, workerPool)],
  );
  observeApp(app, installation);
  return {
    listen: () => listen(app, config.http),
    stop: async () => {
      await app.close();
    },
  };
}
