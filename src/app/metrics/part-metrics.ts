import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { BackgroundPart, PartStatus } from '../../platform/background/part.js';
import { ALTERED_ROW_TABLES } from '../../platform/keys/index.js';
import { type CountScanFaults, SCAN_FAULTS } from '../../tenancy/scans/visit-in-process.js';

/** A number in the status of a worker's part, and its metric. */
interface PartCount {
  readonly part: string;
  readonly status: string;
  readonly metric: string;
  readonly help: string;
}

const COUNTERS: readonly PartCount[] = [
  {
    part: 'relay',
    status: 'relayed_events',
    metric: 'consent_ledger_relay_appended_events_total',
    help: 'Events that this process brought into the event log.',
  },
  {
    part: 'sealer',
    status: 'sealed_batches',
    metric: 'consent_ledger_sealed_batches_total',
    help: 'Merkle batches that this process sealed.',
  },
  {
    part: 'sealer',
    status: 'sealed_events',
    metric: 'consent_ledger_sealed_events_total',
    help: 'Events in Merkle batches that this process sealed.',
  },
  {
    part: 'stamper',
    status: 'stamps',
    metric: 'consent_ledger_stamps_total',
    help: 'Checkpoints for which this process obtained a time stamp.',
  },
  {
    part: 'cosigner',
    status: 'cosignatures',
    metric: 'consent_ledger_cosignatures_total',
    help: 'Cosignatures that this process obtained from witnesses.',
  },
  {
    part: 'erasure',
    status: 'erased_records',
    metric: 'consent_ledger_erased_records_total',
    help: 'Records whose keys this process destroyed.',
  },
  {
    part: 'mail',
    status: 'sent',
    metric: 'consent_ledger_mails_sent_total',
    help: 'Mails that the mail server took from this process.',
  },
  {
    part: 'mail',
    status: 'failed',
    metric: 'consent_ledger_mail_failures_total',
    help: 'Attempts to send a mail that failed and are repeated.',
  },
  {
    part: 'mail',
    status: 'dropped',
    metric: 'consent_ledger_mails_dropped_total',
    help: 'Mails that were refused for good, altered or waited too long.',
  },
];

const GAUGES: readonly PartCount[] = [
  {
    part: 'relay',
    status: 'sites_retrying',
    metric: 'consent_ledger_relay_retrying_sites',
    help: 'Sites whose events this process could not relay in its last attempt, and relays again.',
  },
  {
    part: 'stamper',
    status: 'failures_in_a_row',
    metric: 'consent_ledger_stamper_failures_in_a_row',
    help: 'Failed attempts to obtain a time stamp since the last successful one.',
  },
  {
    part: 'stamper',
    status: 'lowered_quorum_waits_for',
    metric: 'consent_ledger_lowered_quorum_waits_for',
    help: 'Distinct authorities that must stamp one more checkpoint before the lowered TSA_QUORUM counts; 0: none waits.',
  },
  {
    part: 'cosigner',
    status: 'witnesses_failing',
    metric: 'consent_ledger_witnesses_failing',
    help: 'Witnesses whose last answer to this process was not a valid cosignature.',
  },
];

/**
 * Creates the metrics of the worker's parts from their status, so that no event is counted twice.
 */
export function createPartMetrics(registry: Registry, parts: readonly BackgroundPart[]): void {
  const registers = [registry];
  const numberOf = ({ part, status }: PartCount): number | null => {
    const value = parts.find(({ name }) => name === part)?.status()[status];
    return typeof value === 'number' ? value : null;
  };
  for (const count of COUNTERS) {
    new Counter({
      name: count.metric,
      help: count.help,
      registers,
      collect() {
        this.reset();
        this.inc(numberOf(count) ?? 0);
      },
    });
  }
  for (const count of GAUGES) {
    new Gauge({
      name: count.metric,
      help: count.help,
      registers,
      collect() {
        this.set(numberOf(count) ?? 0);
      },
    });
  }
  new Gauge({
    name: 'consent_ledger_part_is_leader',
    help: '1 where this process holds the lock of the part and does its work, 0 where it stands by.',
    labelNames: ['part'] as const,
    registers,
    collect() {
      for (const { name: part, leader } of parts.map((one) => ({ name: one.name, leader: leaderOf(one.status()) }))) {
        if (leader !== null) this.set({ part }, leader ? 1 : 0);
      }
    },
  });
  new Counter({
    name: 'consent_ledger_projected_events_total',
    help: 'Events that this process read into each projection.',
    labelNames: ['projection'] as const,
    registers,
    collect() {
      this.reset();
      const status = parts.find(({ name }) => name === 'projector')?.status() ?? {};
      for (const [name, value] of Object.entries(status)) {
        const [, projection] = /^(.+)_events$/.exec(name) ?? [];
        if (projection !== undefined && typeof value === 'number') this.inc({ projection }, value);
      }
    },
  });
}

function leaderOf({ leader }: PartStatus): boolean | null {
  return typeof leader === 'boolean' ? leader : null;
}

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

/** Counts a row that failed its seal. @param table name of the table in SQL */
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
