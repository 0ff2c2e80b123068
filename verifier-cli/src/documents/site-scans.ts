import { SCAN_PROBLEMS, type SiteScannedRecord } from '../../../schemas/events/site-scanned.js';
import { type Verdict, worst } from '../findings/verdict.js';
import { reportedTime } from '../report/build-report.js';
import {
  MAX_SCAN_NAMES,
  MAX_SCANS,
  type ReportedNames,
  type ReportedScan,
  type ReportedScans,
} from '../report/report.js';
import type { SealingInterval } from '../time/batch-times.js';

/** A recorded scan in the package. */
interface SeenScan {
  readonly record: SiteScannedRecord;
  readonly batch: number;
  /** Verdict on the scan's own entry. */
  readonly verdict: Verdict;
}

/** Facts about all scans that are known once the whole package is verified. */
export interface ScanContext {
  readonly intervals: readonly SealingInterval[];
  /** The verdict that every record depends on. */
  readonly foundation: Verdict;
  /** Number of the enclosed configuration with this hash, or null if the package has none. */
  readonly configurationNumber: (sha256: string) => number | null;
}

/**
 * The recorded scans of the package. If there are many, only the newest are kept, because they are only for the report.
 */
export class SiteScans {
  readonly #newest: SeenScan[] = [];
  readonly #verdicts: Record<Verdict, number> = { valid: 0, indeterminate: 0, invalid: 0 };

  add(scan: SeenScan): void {
    this.#verdicts[scan.verdict] += 1;
    this.#newest.push(scan);
    if (this.#newest.length > MAX_SCANS) this.#newest.shift();
  }

  /** Returns the scans for the report, the newest last. */
  reported(context: ScanContext): ReportedScans {
    const verdicts: Record<Verdict, number> = { valid: 0, indeterminate: 0, invalid: 0 };
    for (const verdict of VERDICTS) verdicts[worst(verdict, context.foundation)] += this.#verdicts[verdict];
    const count = VERDICTS.reduce((sum, verdict) => sum + verdicts[verdict], 0);
    return { count, verdicts, newest: this.#newest.map((scan) => reportedScan(scan, context)) };
  }
}

const VERDICTS = ['valid', 'indeterminate', 'invalid'] as const;

/** A recorded scan with what the package shows of it. */
export function reportedScan({ record, batch, verdict: own }: SeenScan, context: ScanContext): ReportedScan {
  const { findings, visits, site_config_hash: hash } = record;
  const verdict = worst(own, context.foundation);
  const before = context.intervals.find((interval) => interval.batch === batch)?.before ?? null;
  const lists = visits.flatMap(({ cookies, storage, third_party_hosts: hosts }) => [cookies, storage, hosts]);
  const namesOf = (problem: string): readonly string[] =>
    distinct(findings.items.filter((finding) => finding.problem === problem).map(({ name }) => name));
  const hosts = distinct(visits.flatMap(({ third_party_hosts: { items } }) => items));
  return {
    event_id: record.event_id,
    verdict,
    recorded_at: record.created_at,
    existed_by: before !== null && verdict === 'valid' ? reportedTime(before) : null,
    url: record.url,
    method: record.method,
    signal: record.signal === true,
    choices: visits.map(({ choice }) => choice),
    configuration: hash === null ? null : { sha256: hash, number: context.configurationNumber(hash) },
    problems: SCAN_PROBLEMS.map((problem) => ({ problem, ...first(namesOf(problem)) })),
    third_party_hosts: first(hosts),
    is_whole:
      visits.every(({ is_complete: isComplete }) => isComplete) &&
      [findings, ...lists].every(({ left_out: leftOut }) => leftOut === 0),
  };
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)];
}

function first(names: readonly string[]): ReportedNames {
  return { count: names.length, first: names.slice(0, MAX_SCAN_NAMES) };
}
