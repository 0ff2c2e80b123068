import { Gauge, type Registry } from 'prom-client';
import { READINESS_CODES, READINESS_REASONS, type Readiness } from '../../platform/health.js';

/** Creates the metric of what `/readyz` says: one series for each reason of the table. */
export function createReadinessMetrics(registry: Registry, readiness: Readiness): void {
  new Gauge({
    name: 'consent_ledger_readiness_reason',
    help: '1 for each reason for which this process is unready or degraded, 0 for the others.',
    labelNames: ['code', 'effect'] as const,
    registers: [registry],
    // A reason of one process counts, however many there are.
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
