import { Gauge, Registry } from 'prom-client';
import type { BackgroundPart } from '../../platform/background/part.js';
import { type AdmissionMetrics, createAdmissionMetrics } from './admission-metrics.js';
import { createHttpMetrics, type ObserveRequests } from './http-metrics.js';
import { createPartMetrics } from './part-metrics.js';
import { createProcessMetrics } from './process-metrics.js';
import { createStateMetrics, type StateOptions } from './state-metrics.js';
import { createTimestampMetrics, type ObserveTimestamp } from './timestamp-metrics.js';

/**
 * What one process tells of itself, in one registry. No label ever names a person, a tenant, a site or anything that a caller chose: the number of series
 * is bounded by the program.
 */
export interface Metrics {
  readonly observeRequests: ObserveRequests;
  readonly admission: AdmissionMetrics;
  readonly observeTimestamp: ObserveTimestamp;
  /** Shows what the parts of a worker tell. To be called once. */
  showParts(parts: readonly BackgroundPart[]): void;
  /** Shows the state of the installation, as its database and event log have it. To be called once. */
  showState(options: StateOptions): void;
  /** @returns the Prometheus text format, 0.0.4 */
  text(): Promise<string>;
  readonly contentType: string;
  /** Ends what measures the process. */
  stop(): void;
}

/** @param about of this process; shown as labels of `consent_ledger_info` */
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
