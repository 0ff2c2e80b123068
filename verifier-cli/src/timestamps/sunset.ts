import type { TimestampReport } from '../../../schemas/rfc3161/report.js';

/**
 * Re-evaluates the report on a stamp as of a later time. After the end of its algorithms and certificates, a stamp
 * proves nothing on its own: the authority no longer reports a compromised key, and a new token with an old time looks
 * the same.
 * @param at the time of verification, or the time of the renewing stamp
 */
export function asOfSunset(report: TimestampReport, at: Date): TimestampReport {
  const { soundUntil } = report;
  if (report.outcome !== 'pass' || soundUntil === undefined || at < soundUntil.date) return report;
  const message = `sound until ${soundUntil.date.toISOString()} (${soundUntil.reason}), and no newer time stamp renews it`;
  return {
    ...report,
    outcome: 'indeterminate',
    checks: report.checks.map((check) =>
      check.id === 'tst.algorithms' ? { ...check, outcome: 'indeterminate', message } : check,
    ),
  };
}
