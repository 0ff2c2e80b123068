import type { Server } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { PROJECTIONS } from '../../projections/index.js';
import type { RouteGroup } from '../api/server/app.js';
import { metricsRoute } from '../api/server/metrics.js';
import { failureOf } from '../api/server/request-log.js';
import type { Config } from '../platform/config/index.js';
import type { Queryable } from '../platform/database/pool.js';
import type { Installation } from './installation.js';

/**
 * Length of the queue of connections that are not accepted yet: the default of Linux (`net.core.somaxconn`). With
 * Node's default of 511, when many visitors came at once, some waited for a second or more, until their systems tried
 * again.
 */
const BACKLOG = 4096;

/**
 * Listens on the configured host and port.
 * @returns the URL
 * @throws Error that names the variable to change
 */
export async function listen(app: FastifyInstance, { host, port }: Config['http']): Promise<string> {
  try {
    return await app.listen({ host, port, backlog: BACKLOG });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (code === 'EADDRINUSE') {
      throw new Error(`Port ${port} of ${host} is in use. Set PORT to a free port, or to 0 for any free port.`, {
        cause,
      });
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
      throw new Error(`Cannot listen on ${host}, port ${port} (${code}). Change HOST or PORT.`, { cause });
    }
    throw cause;
  }
}

/**
 * Also accepts connections from the socket of a server of another process. The system gives each connection to one of
 * the processes that are not busy.
 * @param app the application, which must be ready
 */
export function listenOn(app: FastifyInstance, server: Server): void {
  app.server.listen(server, BACKLOG);
}

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
