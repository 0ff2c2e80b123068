import { Counter, Histogram, type Registry } from 'prom-client';

const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60];

/** Counts one attempt to get a time-stamp. @param authority host name of the authority, and port if it is not the scheme's */
export type ObserveTimestamp = (authority: string, outcome: 'obtained' | 'failed', seconds: number) => void;

/** Metrics of time-stamp authorities: attempts by outcome, and how long they take. */
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
