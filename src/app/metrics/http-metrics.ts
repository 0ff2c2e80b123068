import type { FastifyInstance } from 'fastify';
import { Counter, Histogram, type Registry } from 'prom-client';
import { ERROR_CODES } from '../../../schemas/api/error-codes.js';

/** Known methods. Any other method is counted as `other`, so that a client cannot create series. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Installs the metrics in an application. */
export type ObserveRequests = (app: FastifyInstance) => void;

/**
 * Creates the HTTP metrics: durations by method, route *pattern* and status class, and errors by
 * code. Labels never contain a path, a header or data of a site.
 * @returns a function that installs the hooks in an application, before it is ready
 */
export function createHttpMetrics(registry: Registry): ObserveRequests {
  const durations = new Histogram({
    name: 'consent_ledger_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: DURATION_BUCKETS,
    registers: [registry],
  });
  const errors = new Counter({
    name: 'consent_ledger_http_errors_total',
    help: 'Requests answered with an error, by its code (schemas/api/error-codes.ts).',
    labelNames: ['code'] as const,
    registers: [registry],
  });
  for (const code of Object.keys(ERROR_CODES)) errors.inc({ code }, 0);
  // The look-up of a series by its labels is the most expensive step of an observation.
  const series = new Map<string, ReturnType<typeof durations.labels>>();

  return (app) => {
    app.addHook('onResponse', (request, reply, done) => {
      const method = METHODS.has(request.method) ? request.method : 'other';
      const route = request.routeOptions.url ?? 'none';
      const status = `${Math.trunc(reply.statusCode / 100)}xx`;
      const key = `${status} ${method} ${route}`;
      let observed = series.get(key);
      if (observed === undefined) {
        observed = durations.labels({ method, route, status });
        series.set(key, observed);
      }
      observed.observe(reply.elapsedTime / 1000);
      if (reply.errorCode !== undefined) errors.inc({ code: reply.errorCode });
      done();
    });
  };
}
