import type { FastifyInstance } from 'fastify';
import { PROJECTIONS } from '../../projections/index.js';
import type { RouteGroup } from '../api/server/app.js';
import { metricsRoute } from '../api/server/metrics.js';
import { failureOf } from '../api/server/request-log.js';
import type { Queryable } from '../platform/database/pool.js';
import type { Installation } from './installation.js';

/** Measures and traces the requests of an application. Call it before the application is ready. */
export function observeApp(app: FastifyInstance, { metrics, tracing }: Installation): void {
  metrics.observeRequests(app);
  tracing.traceRequests(app);
}

/** The route GET /metrics with the metrics of all processes, if a token is configured. */
export function metricsGroupOf({ config, metrics }: Installation, text: () => Promise<string>): RouteGroup {
  const { metricsToken } = config;
  if (metricsToken === undefined) return () => undefined;
  return (scope) => metricsRoute(scope, { contentType: metrics.contentType, text }, metricsToken);
}

/**
 * The route GET /metrics with the state of the installation, if a token is configured.
 * @param db handle for reading the state
 */
export function metricsGroup(installation: Installation, db: Queryable): RouteGroup {
  const { config, metrics, logger, eventLog } = installation;
  const { metricsToken } = config;
  if (metricsToken === undefined) return () => undefined;
  metrics.showState({
    db,
    eventLog,
    projections: PROJECTIONS,
    outboxLimit: config.outbox.maxRows,
    sealWithinSeconds: config.policy.sealWithinSeconds,
    onFailure: (what, error) => logger.warn({ what, ...failureOf(error) }, 'the state for /metrics cannot be read'),
  });
  return (scope) => metricsRoute(scope, metrics, metricsToken);
}
