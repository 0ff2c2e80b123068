import { Counter, type Registry } from 'prom-client';
import { ALTERED_ROW_TABLES } from '../../platform/keys/index.js';

/** Counts a row that failed its seal. @param table as SQL names it */
export type CountAlteredRow = (table: string) => void;

/** Creates the metric of rows that were altered in the database. */
export function createAlteredRowMetrics(registry: Registry): CountAlteredRow {
  const altered = new Counter({
    name: 'consent_ledger_altered_rows_total',
    help: 'Times that a stored row failed its seal and was left out, by table.',
    labelNames: ['table'] as const,
    registers: [registry],
  });
  // Each series starts at 0: otherwise its first row would show no increase, and no alert would fire.
  for (const table of ALTERED_ROW_TABLES) altered.inc({ table }, 0);
  return (table) => altered.inc({ table });
}
