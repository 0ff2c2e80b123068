import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { ERROR_CODES } from '../../../schemas/api/error-codes.js';

/** Each sample wakes the process, which costs an idle one more than all its other work. */
const RESOLUTION_MS = 250;
const NANOSECONDS = 1e9;
const PERCENTILES = [50, 99, 100] as const;

/**
 * Creates the metrics of the process, under the names of the Prometheus client libraries, and of Node's event loop: its
 * delay since the last scrape. `serve` also publishes those of its worker.
 * @param role label of every series
 * @returns a function that stops the measurement
 */
export function createProcessMetrics(registry: Registry, role: string): () => void {
  const registers = [registry];
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  new Gauge({
    name: 'nodejs_eventloop_lag_seconds',
    help: 'Lag of the event loop since the last scrape, by percentile; 100 is the maximum.',
    labelNames: ['role', 'percentile'] as const,
    registers,
    collect() {
      for (const percentile of PERCENTILES) {
        // The measured delay includes the resolution of the timer, which is not lag.
        const seconds = (delay.percentile(percentile) || 0) / NANOSECONDS - RESOLUTION_MS / 1000;
        this.set({ role, percentile: String(percentile) }, Math.max(0, seconds));
      }
      delay.reset();
    },
  });
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time of this process, user and system.',
    labelNames: ['role'] as const,
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc({ role }, (user + system) / 1e6);
    },
  });
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of this process, in seconds since 1970.',
    labelNames: ['role'] as const,
    registers,
  }).set({ role }, performance.timeOrigin / 1000);
  const memory = new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    labelNames: ['role'] as const,
    registers,
    collect() {
      const { rss, heapUsed, external } = process.memoryUsage();
      memory.set({ role }, rss);
      heap.set({ role }, heapUsed);
      outside.set({ role }, external);
    },
  });
  const heap = new Gauge({
    name: 'nodejs_heap_used_bytes',
    help: 'Used part of the heap.',
    labelNames: ['role'] as const,
    registers,
  });
  const outside = new Gauge({
    name: 'nodejs_external_memory_bytes',
    help: 'Memory of buffers and other objects outside the heap.',
    labelNames: ['role'] as const,
    registers,
  });
  return () => delay.disable();
}

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
