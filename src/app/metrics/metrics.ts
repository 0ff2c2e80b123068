import { Gauge, Registry } from 'prom-client';
import type { BackgroundPart } from '../../platform/background/part.js';
import { type AdmissionMetrics, createAdmissionMetrics } from './admission-metrics.js';
import { type CountAlteredRow, createAlteredRowMetrics } from './altered-row-metrics.js';
import { createHttpMetrics, type ObserveRequests } from './http-metrics.js';
import { createPartMetrics } from './part-metrics.js';
import { createProcessMetrics } from './process-metrics.js';
import { createStateMetrics, type StateOptions } from './state-metrics.js';
import { createTimestampMetrics, type ObserveTimestamp } from './timestamp-metrics.js';

/**
 * The metrics of one process, in one registry. No label names a person, a tenant, a site or a value
 * from a client, so that the program bounds the number of series.
 */
export interface Metrics {
  readonly observeRequests: ObserveRequests;
  readonly admission: AdmissionMetrics;
  readonly observeTimestamp: ObserveTimestamp;
  readonly countAlteredRow: CountAlteredRow;
  /** Adds the metrics of a worker's parts. Call it once. */
  showParts(parts: readonly BackgroundPart[]): void;
  /** Adds the state of the installation from its database and event log. Call it once. */
  showState(options: StateOptions): void;
  /** The current values. @returns the Prometheus text format, 0.0.4 */
  text(): Promise<string>;
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
  const stop = createProcessMetrics(registry);
  let refreshState = async (): Promise<void> => undefined;
  return {
    observeRequests: createHttpMetrics(registry),
    admission: createAdmissionMetrics(registry),
    observeTimestamp: createTimestampMetrics(registry),
    countAlteredRow: createAlteredRowMetrics(registry),
    showParts: (parts) => createPartMetrics(registry, parts),
    showState: (sources) => {
      refreshState = createStateMetrics(registry, sources);
    },
    text: async () => {
      await refreshState();
      return registry.metrics();
    },
    contentType: registry.contentType,
    stop,
  };
}
