import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { PROJECTIONS } from '../../projections/index.js';
import type { RouteGroup } from '../http/app.js';
import { cutOffAfterGrace } from '../http/drain.js';
import { failureOf } from '../http/request-log.js';
import { metricsRoute } from '../http/routes/metrics.js';
import type { Installation } from './installation.js';

/**
 * What every role's application has besides its routes: its requests measured and traced, and a bound on how long callers may keep it from stopping.
 * To be called before the application is ready.
 */
export function observeApp(app: FastifyInstance, { config, metrics, tracing }: Installation): void {
  metrics.observeRequests(app);
  tracing.traceRequests(app);
  cutOffAfterGrace(app, config.http.drainGraceMs);
}

/**
 * GET /metrics, if there is a token for it, with the state of the installation.
 * @param pool whose rights the state is read with
 */
export function metricsGroup(installation: Installation, pool: pg.Pool): RouteGroup {
  const { config, metrics, logger, eventLog } = installation;
  const { metricsToken } = config;
  if (metricsToken === undefined) return () => undefined;
  metrics.showState({
    pool,
    eventLog,
    projections: PROJECTIONS,
    outboxLimit: config.outbox.maxRows,
    pools: { api: installation.apiPool, worker: installation.workerPool, projections: installation.projectionsPool },
    onFailure: (what, error) => logger.warn({ what, ...failureOf(error) }, 'the state for /metrics cannot be read'),
  });
  return (scope) => metricsRoute(scope, metrics, metricsToken);
}
