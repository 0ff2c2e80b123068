import type { Manifest, PackageFilter } from '../../../schemas/evidence/manifest.js';
import { DEVELOPMENT_MARK } from '../../../schemas/rfc3161/development-mark.js';
import type { Coverage, StreamCoverage } from '../completeness/coverage.js';
import type { RecordsSummary } from '../entries/summary.js';
import type { Findings } from '../findings/findings.js';
import type { PolicyInForce } from '../policy/policies.js';
import type { SealingInterval } from '../time/batch-times.js';
import type { ProvedTime } from '../time/stamped-times.js';
import type { Stamp, Stamps } from '../timestamps/stamp.js';
import { notProved } from './not-proved.js';
import { provesOf } from './proves.js';
import {
  MAX_LISTED,
  type ReportedFilter,
  type ReportedStamp,
  type ReportedTime,
  type VerificationReport,
} from './report.js';

/** What a report is made of. */
export interface Found {
  readonly findings: Findings;
  readonly manifest: Manifest | null;
  readonly summary: RecordsSummary;
  readonly coverage: Coverage | null;
  readonly intervals: readonly SealingInterval[];
  readonly stamps: Stamps;
  readonly texts: VerificationReport['texts'];
  /** The valid stamp over the package's checkpoint. */
  readonly asOf: ProvedTime | null;
  readonly policy: PolicyInForce;
  readonly at: Date;
}

/** Puts together what the checks found. */
export function buildReport({
  findings,
  manifest,
  summary,
  coverage,
  intervals,
  stamps,
  texts,
  asOf,
  policy,
  at,
}: Found): VerificationReport {
  const proved = provedOf(intervals);
  const last = intervals.at(-1)?.batch ?? 0;
  const covering = [...stamps.values()].filter(({ size, report }) => report.outcome === 'pass' && size > last);
  return {
    format: 'consent-verify-report',
    version: 1,
    verdict: findings.verdict(),
    as_of: asOf && reportedTime(asOf),
    checks: findings.results(),
    package: {
      origin: manifest?.origin ?? null,
      site_id: manifest?.filter.site_id ?? null,
      exported_at: manifest?.exported_at ?? null,
      exported_by: manifest?.exported_by ?? null,
      development: isDevelopment(stamps) || (manifest?.development ?? null),
      checkpoint: manifest?.checkpoint ?? null,
      not_yet_stamped: manifest?.counts.not_yet_stamped ?? null,
      filter: manifest && reportedFilter(manifest.filter),
    },
    coverage: coverage && { consents: listed(coverage.consents), notices: listed(coverage.notices) },
    policy: {
      number: policy.number,
      seal_within_seconds: policy.sealWithinMs / 1000,
      stamp_within_seconds: policy.stampWithinMs / 1000,
    },
    records: summary,
    proved,
    stamps: { count: stamps.size, first: [...stamps.values()].slice(-MAX_LISTED).map(reportedStamp) },
    sound_until: lastEnd(covering),
    warnings: findings.warnings,
    texts,
    proves: provesOf({ findings, manifest, summary, proved, coverage }),
    not_proved: notProved(manifest, summary, coverage, isDevelopment(stamps)),
    verified_at: at.toISOString(),
  };
}

function reportedFilter({ site_id: _, _sd, event_ids: eventIds, ...filter }: PackageFilter): ReportedFilter {
  return { ...filter, event_ids: eventIds?.length ?? null, persons: _sd.length };
}

function listed(coverage: StreamCoverage): StreamCoverage {
  return { ...coverage, complete: coverage.complete.slice(0, MAX_LISTED) };
}

function provedOf(intervals: readonly SealingInterval[]): VerificationReport['proved'] {
  const starts = intervals.map(({ after }) => after);
  const ends = intervals.map(({ before }) => before);
  return {
    not_before: starts.includes(null) ? null : extreme(starts, (a, b) => a.time < b.time),
    earliest: extreme(ends, (a, b) => a.time < b.time),
    not_after: ends.includes(null) ? null : extreme(ends, (a, b) => a.time > b.time),
    batches: intervals.length,
    batches_without_stamp: ends.filter((end) => end === null).length,
    intervals: intervals.slice(0, MAX_LISTED).map(({ batch, after, before }) => ({
      batch,
      after: after && reportedTime(after),
      before: before && reportedTime(before),
    })),
  };
}

function extreme(
  times: readonly (ProvedTime | null)[],
  isBetter: (a: ProvedTime, b: ProvedTime) => boolean,
): ReportedTime | null {
  let best: ProvedTime | null = null;
  for (const time of times) if (time !== null && (best === null || isBetter(time, best))) best = time;
  return best && reportedTime(best);
}

/** A proved time as reports write it. */
export function reportedTime({ time, accuracy, size }: ProvedTime): ReportedTime {
  return { time: new Date(time).toISOString(), accuracy_ms: accuracy, checkpoint: size };
}

function reportedStamp({ size, report, renewedBy }: Stamp): ReportedStamp {
  return {
    checkpoint: size,
    outcome: report.outcome,
    time: report.claims?.genTime.toISOString() ?? null,
    authority: report.signer?.subject ?? null,
    revocation: report.revocation,
    sound_until: soundUntil(report.soundUntil),
    renewed_by: renewedBy && { checkpoint: renewedBy.size, time: renewedBy.time.toISOString() },
  };
}

/**
 * Whether the certificates show that a development authority stamped a checkpoint. The manifest
 * states it as well, but an operator could leave that out.
 */
export function isDevelopment(stamps: Stamps): boolean {
  const isMarked = (subject: string | undefined) => subject?.includes(DEVELOPMENT_MARK) === true;
  return [...stamps.values()].some(
    ({ report }) => isMarked(report.signer?.subject) || report.chain.some(({ subject }) => isMarked(subject)),
  );
}

/**
 * The last end of the stamps that cover every batch: a newer stamp renews the older ones.
 */
function lastEnd(stamps: readonly Stamp[]): { date: string; reason: string } | null {
  const ends = stamps.map(({ report }) => report.soundUntil).filter((end) => end !== undefined);
  const [longest] = ends.toSorted((a, b) => b.date.getTime() - a.date.getTime());
  return soundUntil(longest);
}

function soundUntil(
  end: { readonly date: Date; readonly reason: string } | undefined,
): { date: string; reason: string } | null {
  return end === undefined ? null : { date: end.date.toISOString(), reason: end.reason };
}
