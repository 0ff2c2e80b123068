import { Counter, type Registry } from 'prom-client';
import { type CountScanFaults, SCAN_FAULTS } from '../../tenancy/scans/visit-in-process.js';

/** Creates the metric of what scanned pages did to their scans. */
export function createScanMetrics(registry: Registry): CountScanFaults {
  const faults = new Counter({
    name: 'consent_ledger_scan_faults_total',
    help: 'What scanned pages sent that could not be taken, and processes of scans that ended without a result, by cause.',
    labelNames: ['cause'] as const,
    registers: [registry],
  });
  // Each series starts at 0: otherwise its first fault would show no increase.
  for (const cause of SCAN_FAULTS) faults.inc({ cause }, 0);
  return (cause, count) => faults.inc({ cause }, count);
}
