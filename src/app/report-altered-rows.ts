import type { Logger } from 'pino';
import type { ReportAlteredRow } from '../platform/keys/index.js';
import type { CountAlteredRow } from './metrics/altered-row-metrics.js';

/** Rows whose report is remembered, so that a request repeated often does not fill the log. */
const MAX_REMEMBERED = 10_000;

/** Creates the report of altered rows: every finding counts, and each row is logged once. */
export function reportAlteredRows(logger: Pick<Logger, 'error'>, count: CountAlteredRow): ReportAlteredRow {
  const logged = new Set<string>();
  return ({ table, id }) => {
    count(table);
    const name = `${table} ${id}`;
    if (logged.has(name)) return;
    if (logged.size >= MAX_REMEMBERED) logged.clear();
    logged.add(name);
    logger.error(
      { code: 'ROW_ALTERED', table, id },
      'a stored row was altered outside the service: it is left out and grants nothing',
    );
  };
}
