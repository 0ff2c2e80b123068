import type { FastifyInstance } from 'fastify';
import { Counter, Histogram, type Registry } from 'prom-client';
import { ERROR_CODES } from '../../../schemas/api/error-codes.js';

/** Methods that are told apart: what else a caller sends is `other`, so that nobody can make up series. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Counts the requests of an application. */
export type ObserveRequests = (app: FastifyInstance) => void;

/**
 * Metrics of HTTP: durations by method, route *pattern* and class of status, and errors by code. Never a path, a header, or anything of a site.
 * @returns a function that hooks them into an application, before it is ready
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
  // A series is looked up by its labels at each observation, which costs more than all the rest.
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
