import type pg from 'pg';
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client';
import type { BackgroundPart } from '../../platform/background/part.js';
import type { ServerBinding } from '../../platform/database/server-binding.js';
import { READINESS_CODES, READINESS_REASONS, type Readiness } from '../../platform/health.js';
import type { CountScanFaults } from '../../tenancy/scans/visit-in-process.js';
import { type AdmissionMetrics, createAdmissionMetrics } from './admission-metrics.js';
import {
  type CountAlteredRow,
  createAlteredRowMetrics,
  createPartMetrics,
  createScanMetrics,
  createTimestampMetrics,
  type ObserveTimestamp,
} from './part-metrics.js';
import { ProcessMetrics } from './process-json.js';
import { createHttpMetrics, createProcessMetrics, type ObserveRequests } from './process-metrics.js';
import { createStateMetrics, type StateOptions } from './state-metrics.js';

/** A second process whose metrics are shown with those of this one. */
export interface ProcessBeside {
  metrics(): Promise<ProcessMetrics>;
  restarts(): number;
}

/** Further processes that answer callers. */
export interface FurtherProcesses {
  metrics(): Promise<readonly ProcessMetrics[]>;
  restarts(): number;
}

/** Listeners that receive bytes from untrusted parties. */
const CAUGHT_WHERE = ['event_log', 'webhook', 'domain_proof'] as const;
export type CaughtWhere = (typeof CAUGHT_WHERE)[number];

/**
 * The metrics of one process, in one registry. No label names a person, a tenant, a site or a value from a client, so
 * the number of series is limited.
 */
export interface Metrics {
  readonly observeRequests: ObserveRequests;
  readonly admission: AdmissionMetrics;
  readonly observeTimestamp: ObserveTimestamp;
  readonly countAlteredRow: CountAlteredRow;
  readonly countScanFaults: CountScanFaults;
  /** Counts an event in the log that another program wrote to a stream of its own. */
  readonly countForeignEvent: () => void;
  /** Counts an exception in a listener that ended one request or read, but not the process. */
  readonly countCaught: (where: CaughtWhere) => void;
  /** Adds the metrics of a worker's parts. Call it once. */
  showParts(parts: readonly BackgroundPart[]): void;
  /** Adds the connections of this process to the database. Call it once. */
  showPools(pools: Readonly<Record<string, pg.Pool>>): void;
  /** Adds whether the process may use its database. Call it once. */
  showServer(server: ServerBinding): void;
  /** Makes `text` add up the metrics of another process and of this one. Call it once. */
  showBeside(beside: ProcessBeside): void;
  /**
   * Adds how often a process that answers callers was restarted. Call it once.
   * @param restarts number of restarts of this process; those of further processes are added
   */
  showApiRestarts(restarts: number): void;
  /**
   * Makes `text` also add up the metrics of further processes that answer callers. Call it once, after `showBeside`.
   */
  showFurther(further: FurtherProcesses): void;
  /** Adds the reasons why this process is not fully ready. Call it once. */
  showReadiness(readiness: Readiness): void;
  /** Adds the state of the installation from its database and event log. Call it once. */
  showState(options: StateOptions): void;
  /** The current values. @returns the Prometheus text format, 0.0.4 */
  text(): Promise<string>;
  /** The current values, for the process that publishes them. */
  json(): Promise<ProcessMetrics>;
  readonly contentType: string;
  /** Stops the measurements of the process. */
  stop(): void;
}

/** Creates the metrics. @param about labels of `consent_ledger_info` */
export function createMetrics(about: { readonly role: string; readonly version: string }): Metrics {
  const registry = new Registry();
  new Gauge({
    name: 'consent_ledger_info',
    help: 'Always 1. Version and role of this process.',
    labelNames: ['role', 'version'] as const,
    registers: [registry],
  }).set({ ...about }, 1);
  const foreign = new Counter({
    name: 'consent_ledger_foreign_events_total',
    help: 'Events of other programs in the event log that this process passed over.',
    registers: [registry],
  });
  const caught = new Counter({
    name: 'consent_ledger_caught_exceptions_total',
    help: 'Exceptions that bytes of a stranger caused and that ended a request, a delivery or a read, by where.',
    labelNames: ['where'] as const,
    registers: [registry],
  });
  for (const where of CAUGHT_WHERE) caught.inc({ where }, 0);
  const stop = createProcessMetrics(registry, about.role);
  let refreshState = async (): Promise<void> => undefined;
  let beside: ProcessBeside | null = null;
  let further: FurtherProcesses | null = null;
  return {
    observeRequests: createHttpMetrics(registry),
    admission: createAdmissionMetrics(registry),
    observeTimestamp: createTimestampMetrics(registry),
    countAlteredRow: createAlteredRowMetrics(registry),
    countScanFaults: createScanMetrics(registry),
    countForeignEvent: () => foreign.inc(),
    countCaught: (where) => caught.inc({ where }),
    showParts: (parts) => createPartMetrics(registry, parts),
    showState: (sources) => {
      refreshState = createStateMetrics(registry, sources);
    },
    showReadiness: (readiness) => createReadinessMetrics(registry, readiness),
    showPools: (pools) => showPools(registry, pools),
    showServer: (server) => showServer(registry, server),
    showBeside: (other) => {
      beside = other;
      showRestarts(
        registry,
        'consent_ledger_worker_process_restarts_total',
        'How often `serve` started its worker process again, because it had died or hung.',
        () => other.restarts(),
      );
    },
    showApiRestarts: (restarts) =>
      showRestarts(
        registry,
        'consent_ledger_api_process_restarts_total',
        'How often `serve` or `api` started a process that answers callers again, because it had died or hung.',
        () => restarts + (further?.restarts() ?? 0),
      ),
    showFurther: (others) => {
      further = others;
    },
    text: async () => {
      const [worker, apis = []] = await Promise.all([beside?.metrics(), further?.metrics(), refreshState()]);
      if (worker === undefined) return registry.metrics();
      return AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), worker, ...apis]).metrics();
    },
    json: async () => ProcessMetrics.parse(await registry.getMetricsAsJSON()),
    contentType: registry.contentType,
    stop,
  };
}

function showRestarts(registry: Registry, name: string, help: string, restarts: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(restarts());
    },
  });
}

function showServer(registry: Registry, server: ServerBinding): void {
  new Gauge({
    name: 'consent_ledger_database_refused',
    help: 'Processes that do not use their database, because the server changed or the history is not the one that is known; /readyz says which.',
    registers: [registry],
    collect() {
      this.set(server.refusal() === null ? 0 : 1);
    },
  });
}

function showPools(registry: Registry, pools: Readonly<Record<string, pg.Pool>>): void {
  new Gauge({
    name: 'consent_ledger_database_connections',
    help: 'Connections to PostgreSQL by pool, and requests that wait for one.',
    labelNames: ['pool', 'state'] as const,
    registers: [registry],
    collect() {
      for (const [name, pool] of Object.entries(pools)) {
        this.set({ pool: name, state: 'busy' }, pool.totalCount - pool.idleCount);
        this.set({ pool: name, state: 'idle' }, pool.idleCount);
        this.set({ pool: name, state: 'waiting' }, pool.waitingCount);
      }
    },
  });
}

/** Creates the metric of `/readyz`: one series for each reason of the table. */
function createReadinessMetrics(registry: Registry, readiness: Readiness): void {
  new Gauge({
    name: 'consent_ledger_readiness_reason',
    help: '1 for each reason that /readyz of this process names, 0 for the others.',
    labelNames: ['code', 'effect'] as const,
    registers: [registry],
    // A reason is shown if any one process has it.
    aggregator: 'max',
    async collect() {
      const reasons = await readiness.reasons();
      for (const code of READINESS_CODES) {
        const { effect } = READINESS_REASONS[code];
        this.set({ code, effect }, reasons.some((reason) => reason.code === code) ? 1 : 0);
      }
    },
  });
}
