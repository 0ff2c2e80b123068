import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import type { Manifest, PackageFilter } from '../../../schemas/evidence/manifest.js';
import { keyLineOf, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { DEVELOPMENT_MARK } from '../../../schemas/rfc3161/development-mark.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import type { SoundUntil } from '../../../schemas/rfc3161/report.js';
import { parseCertificate } from '../../../schemas/rfc3161/x509/certificate.js';
import type { Coverage, StreamCoverage } from '../completeness/coverage.js';
import type { PersonCoverage } from '../completeness/persons.js';
import type { RecordsSummary } from '../entries/summary.js';
import { cutText, finding, stated } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import { en } from '../i18n/en/index.js';
import type { WitnessedCheckpoint } from '../ledger/witnesses.js';
import type { PolicyInForce } from '../policy/policies.js';
import type { ReportedPromise } from '../promises/promised-records.js';
import type { ReportedTime } from '../rendering/times-text.js';
import type { SealingInterval } from '../time/batch-times.js';
import type { ProvedTime, StampedTimes } from '../time/stamped-times.js';
import type { Stamp, Stamps } from '../timestamps/stamp.js';
import { VERSION } from '../version.js';
import type { WorkMeter } from '../work/work-meter.js';
import { notProved } from './not-proved.js';
import { reportedOperator } from './operator-statements.js';
import { provesOf } from './proves.js';
import {
  MAX_LISTED,
  type ReportedCoverage,
  type ReportedEnd,
  type ReportedFilter,
  type ReportedNewest,
  type ReportedRoot,
  type ReportedSite,
  type ReportedStamp,
  type ReportFacts,
  type VerificationReport,
} from './report.js';

/** Inputs of a report. */
export interface Found {
  readonly findings: Findings;
  readonly manifest: Manifest | null;
  readonly summary: RecordsSummary;
  readonly coverage: Coverage | null;
  readonly person: PersonCoverage;
  /** The person of the package, as its records name the person. */
  readonly visitor: string | null;
  readonly intervals: readonly SealingInterval[];
  readonly times: StampedTimes;
  readonly stamps: Stamps;
  readonly witnessed: WitnessedCheckpoint;
  readonly texts: VerificationReport['texts'];
  readonly scans: VerificationReport['scans'];
  readonly site: ReportedSite | null;
  /** The valid stamp over the package's checkpoint. */
  readonly asOf: ProvedTime | null;
  readonly policy: PolicyInForce;
  readonly promises: readonly ReportedPromise[];
  /** Certificates and ledger keys that the relying party gave. */
  readonly given: {
    readonly trustAnchors: readonly Uint8Array[];
    readonly ledgerKeys: readonly VerifierKey[];
    readonly person?: string | undefined;
  };
  readonly at: Date;
  readonly work: WorkMeter;
}

/** Assembles the results of the checks. */
export function buildReport({
  findings,
  manifest,
  summary,
  coverage,
  person,
  visitor,
  intervals,
  times,
  stamps,
  witnessed,
  texts,
  scans,
  site,
  asOf,
  policy,
  promises,
  given,
  at,
  work,
}: Found): VerificationReport {
  const last = intervals.at(-1)?.batch ?? 0;
  const required = times.requiredFor(last);
  const proved = provedOf(intervals, required);
  const covering = stamps.filter(({ size, report }) => report.outcome === 'pass' && size > last);
  const facts: ReportFacts = {
    format: 'consent-verify-report',
    version: 1,
    verifier: { name: 'consent-verify', version: VERSION },
    trust: {
      ledger_keys: given.ledgerKeys.map(keyLineOf),
      roots: given.trustAnchors.map(reportedRoot),
    },
    verdict: findings.verdict(),
    as_of: asOf && reportedTime(asOf),
    checks: findings.results(),
    package: {
      origin: manifest?.origin ?? null,
      site_id: manifest?.filter.site_id ?? null,
      exported_at: manifest?.exported_at ?? null,
      exported_by: manifest?.exported_by ?? null,
      export: manifest?.export ?? null,
      development: isDevelopment(stamps) || (manifest?.development ?? null),
      checkpoint: manifest?.checkpoint ?? null,
      not_yet_stamped: manifest?.counts.not_yet_stamped ?? null,
      site,
      filter: manifest && reportedFilter(manifest.filter),
      person: visitor === null ? null : cutText(visitor),
      asked_person: given.person === undefined ? null : cutText(given.person),
    },
    coverage: coverage && { consents: listed(coverage.consents), notices: listed(coverage.notices), person },
    policy: {
      number: policy.number,
      seal_within_seconds: policy.sealWithinMs / 1000,
      stamp_within_seconds: policy.stampWithinMs / 1000,
    },
    operator: findings.verdict() === 'invalid' ? null : reportedOperator(policy, stampsOf(proved, stamps)),
    newest: reportedNewest(witnessed, times),
    records: summary,
    proved,
    stamps: { count: stamps.length, first: stamps.slice(-MAX_LISTED).map(reportedStamp) },
    witnesses: reportedWitnesses(witnessed),
    promises,
    sound_until: lastEnd(covering, required),
    warnings: findings.warnings,
    texts,
    scans,
    work: { done: work.done, limit: work.limit },
    verified_at: at.toISOString(),
  };
  return { ...facts, proves: provesOf(facts, en), not_proved: notProved(facts, en) };
}

/** The stamps that prove the time by which everything existed: no other stands beside what the operator states. */
function stampsOf({ not_after: end }: VerificationReport['proved'], stamps: Stamps): Stamps {
  return stamps.filter(({ size }) => size === end?.checkpoint);
}

function reportedRoot(der: Uint8Array): ReportedRoot {
  const certificate = attempt(() => parseCertificate(der));
  const subject = certificate instanceof MalformedInput ? '' : certificate.subject.text;
  return { subject, sha256: toHex(sha256(der)) };
}

/** Counts the authorities that stamped the newest checkpoint and the witnesses that cosigned it. */
export function reportedNewest({ size, cosigned, demanded }: WitnessedCheckpoint, times: StampedTimes): ReportedNewest {
  return {
    checkpoint: size,
    authorities: size === null ? 0 : times.authoritiesOver(size),
    authorities_demanded: times.demandedFor(Math.max(0, (size ?? 0) - 1)),
    witnesses: cosigned.length,
    witnesses_demanded: demanded,
  };
}

function reportedWitnesses({
  size,
  cosigned,
  demanded: _,
  ...rest
}: WitnessedCheckpoint): VerificationReport['witnesses'] {
  return {
    ...rest,
    checkpoint: size,
    cosigned: cosigned.map(({ name, time }) => ({ name, time: time.toISOString() })),
  };
}

function reportedFilter({ site_id: _, person, event_ids: eventIds, ...filter }: PackageFilter): ReportedFilter {
  return {
    ...filter,
    event_ids: eventIds?.length ?? null,
    persons: person === null ? 0 : 1,
    person_records: person?.records ?? null,
  };
}

function listed(coverage: StreamCoverage): ReportedCoverage {
  const { complete } = coverage;
  return { ...coverage, complete: complete.slice(0, MAX_LISTED), complete_runs: complete.length };
}

function provedOf(intervals: readonly SealingInterval[], required: number): VerificationReport['proved'] {
  const starts = intervals.map(({ after }) => after);
  const ends = intervals.map(({ before }) => before);
  return {
    not_before: starts.includes(null) ? null : extreme(starts, (a, b) => a.time < b.time),
    earliest: extreme(ends, (a, b) => a.time < b.time),
    not_after: ends.includes(null) ? null : extreme(ends, (a, b) => a.time > b.time),
    required_stamps: required,
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

function reportedStamp({ size, file, report, renewedBy }: Stamp): ReportedStamp {
  return {
    checkpoint: size,
    file,
    outcome: report.outcome,
    time: report.claims?.genTime.toISOString() ?? null,
    authority: report.signer?.subject ?? null,
    organization: report.organization ?? null,
    revocation: report.revocation,
    sound_until: soundUntil(report.soundUntil),
    renewed_by: renewedBy && { checkpoint: renewedBy.size, time: renewedBy.time.toISOString() },
  };
}

/**
 * Whether the certificates show that a development authority stamped a checkpoint. The manifest states this as well,
 * but an operator could omit it.
 */
export function isDevelopment(stamps: Stamps): boolean {
  const isMarked = (subject: string | undefined) => subject?.includes(DEVELOPMENT_MARK) === true;
  return stamps.some(
    ({ report }) => isMarked(report.signer?.subject) || report.chain.some(({ subject }) => isMarked(subject)),
  );
}

/**
 * Returns how long the package remains valid: as long as the longest-lasting stamp of each required authority, because
 * a newer stamp renews the older ones.
 */
function lastEnd(stamps: readonly Stamp[], required: number): ReportedEnd | null {
  const ends = new Map<string, SoundUntil>();
  for (const { report } of stamps) {
    const { organization = '', soundUntil: end } = report;
    if (end !== undefined && !(Number(ends.get(organization)?.date) >= end.date.getTime())) ends.set(organization, end);
  }
  const sorted = [...ends.values()].sort((a, b) => b.date.getTime() - a.date.getTime());
  return soundUntil(sorted[required - 1]);
}

function soundUntil(end: SoundUntil | undefined): ReportedEnd | null {
  if (end === undefined) return null;
  const { kind, name } = end.cause;
  const { message: reason, ...coded } = stated(
    kind === 'certificate' ? finding('certificate-expires', { name }) : finding('no-longer-sound', { name }),
  );
  return { date: end.date.toISOString(), reason, ...coded };
}
