import { Counter, Histogram, type Registry } from 'prom-client';

const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60];

/**
 * Records one attempt to obtain a time stamp.
 * @param authority host name of the authority, with the port unless it is the scheme's default
 */
export type ObserveTimestamp = (authority: string, outcome: 'obtained' | 'failed', seconds: number) => void;

/** Creates the metrics of time stamp authorities: attempts by outcome, and their duration. */
export function createTimestampMetrics(registry: Registry): ObserveTimestamp {
  const requests = new Counter({
    name: 'consent_ledger_timestamp_requests_total',
    help: 'Time stamp requests, by authority. A response that does not verify counts as failed.',
    labelNames: ['authority', 'outcome'] as const,
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'consent_ledger_timestamp_request_duration_seconds',
    help: 'Duration of a time stamp request, including verification.',
    labelNames: ['authority'] as const,
    buckets: DURATION_BUCKETS,
    registers: [registry],
  });
  return (authority, outcome, seconds) => {
    requests.inc({ authority, outcome });
    durations.observe({ authority }, seconds);
  };
}
