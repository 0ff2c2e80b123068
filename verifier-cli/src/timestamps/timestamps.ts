import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { MAX_TOKENS } from '../../../schemas/events/ledger.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { parseTimestamp } from '../../../schemas/rfc3161/cms/token.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { type TimestampCheck, type TimestampReport, wasNotMade } from '../../../schemas/rfc3161/report.js';
import { verifyTimestamp } from '../../../schemas/rfc3161/verify.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
import { type Finding, finding } from '../findings/finding.js';
import type { Checkpoints, EnclosedCheckpoint } from '../ledger/checkpoints.js';
import { WORK, WorkExceeded, type WorkMeter } from '../work/work-meter.js';
import { answersNear, type PkiFiles, readPkiFiles } from './pki-files.js';
import { NO_HISTORY, type RenewalHistory, Renewals } from './renewals.js';
import { causeOfStamp, type Stamp, type Stamps } from './stamp.js';
import { asOfSunset } from './sunset.js';
import { tokenFinding } from './token-finding.js';

export interface TimestampTrust {
  /** DER certificates of the authorities that the relying party trusts. */
  readonly trustAnchors: readonly Uint8Array[];
  /** The time of verification. */
  readonly at: Date;
}

/**
 * Verifies every time stamp of every checkpoint (RFC 3161, RFC 5816), at the time that it states. Each is evaluated by
 * the algorithms that are secure at the time of verification or, if it is no longer valid by these, by those that were
 * secure when a newer valid stamp renewed it (RFC 4998 §5.3).
 * @param history links between the checkpoints; without it nothing is renewed
 */
export async function verifyTimestamps(
  files: PackageFiles,
  checkpoints: Checkpoints,
  trust: TimestampTrust,
  history: RenewalHistory = NO_HISTORY,
): Promise<Stamps> {
  const pki = await readPkiFiles(files);
  const renewals = new Renewals(history);
  const stamps: Stamp[] = [];
  for (const enclosed of [...checkpoints.values()].reverse()) {
    const found = responsesOf(enclosed.checkpoint.size, files);
    if (stamps.length + found.length > LIMITS.stamps) {
      files.findings.fail('container.limits', finding('too-many-stamps', { limit: LIMITS.stamps }));
      break;
    }
    const own: Stamp[] = [];
    for (const file of found) {
      if (files.work.isExceeded) break;
      const stamp = await verifyStamp(files, file, enclosed, pki, trust, renewals);
      if (stamp !== null) own.push(stamp);
    }
    for (const stamp of own) renewals.accept(stamp);
    stamps.push(...own.toReversed());
  }
  stamps.reverse();
  const stamped = new Set(stamps.filter(({ report }) => report.outcome === 'pass').map(({ size }) => size));
  const latest = Math.max(-1, ...stamped);
  for (const stamp of stamps) {
    const isReplaced = stamped.has(stamp.size) || (hasNoRoot(stamp) && stamp.size <= latest);
    reportStamp(stamp, isReplaced, files, trust.trustAnchors.length);
  }
  return stamps;
}

/**
 * Returns whether the only problem of a stamp is that no path leads to a given root. The relying party may trust
 * another authority; such a stamp is not used if a later one covers the same.
 */
function hasNoRoot({ report }: Stamp): boolean {
  const failed = report.checks.filter(({ outcome }) => outcome === 'fail');
  return report.chain.length === 0 && failed.every(({ id }) => id === 'tst.path');
}

function responsesOf(size: number, files: PackageFiles): readonly string[] {
  const numbers = Array.from({ length: MAX_TOKENS }, (_, index) => index + 1);
  const found = numbers.map((number) => PACKAGE_FILES.response(size, number)).filter((file) => files.has(file));
  if (found.length === 0)
    files.findings.open('tst.format', finding('checkpoint-not-stamped'), { file: PACKAGE_FILES.response(size, 1) });
  return found;
}

/** @returns null if the file cannot be read, or the work exceeds its limit */
async function verifyStamp(...given: Parameters<typeof evaluateStamp>): Promise<Stamp | null> {
  try {
    return await evaluateStamp(...given);
  } catch (error) {
    if (error instanceof WorkExceeded) return null;
    throw error;
  }
}

async function evaluateStamp(
  files: PackageFiles,
  file: string,
  { checkpoint, bytes }: EnclosedCheckpoint,
  pki: PkiFiles,
  { trustAnchors, at }: TimestampTrust,
  renewals: Renewals,
): Promise<Stamp | null> {
  const token = await files.bytes(file);
  if (token === null) return null;
  const input = {
    token,
    stamped: { data: bytes },
    trustAnchors,
    untrusted: pki.certificates,
    revocation: 'require',
    at,
    spend: files.work.spend,
  } as const;
  const answers = answersFor(token, pki, files.work);
  const report = asOfSunset(await verifyTimestamp({ ...input, ...answers }), at);
  const stamp = { size: checkpoint.size, file, sha256: toHex(sha256(token)) };
  const renewedBy = report.outcome === 'indeterminate' ? renewals.over(stamp) : null;
  if (renewedBy !== null) {
    const { time } = renewedBy;
    const renewed = asOfSunset(await verifyTimestamp({ ...input, ...answers, at: time }), time);
    if (renewed.outcome === 'pass') return { ...stamp, report: withoutBytes(renewed), renewedBy };
  }
  return { ...stamp, report: withoutBytes(report), renewedBy: null };
}

/** Selects the CRLs and OCSP answers to evaluate by the claims of the token, because there may be many. */
function answersFor(token: Uint8Array, { crls, ocsp }: PkiFiles, work: WorkMeter) {
  work.spend(WORK.asn1Byte * token.length + WORK.choice * (crls.length + ocsp.length));
  const parsed = attempt(() => parseTimestamp(token));
  const time = parsed instanceof MalformedInput ? undefined : parsed.tstInfo?.genTime.date.getTime();
  if (time === undefined) return { crls: [], ocspResponses: [] };
  return { crls: answersNear(crls, time), ocspResponses: answersNear(ocsp, time) };
}

/** Copies certificates, because as views they would keep thousands of tokens in memory. */
function withoutBytes(report: TimestampReport): TimestampReport {
  return { ...report, chainCertificates: [] };
}

/**
 * Reports the checks of one stamp. A stamp that fails neither proves nor contradicts anything; it is left undecided if
 * another stamp replaces it.
 */
function reportStamp(
  { file, report, renewedBy }: Stamp,
  hasSubstitute: boolean,
  { findings }: PackageFiles,
  anchors: number,
): void {
  const isReplaced = report.outcome === 'fail' && hasSubstitute;
  if (isReplaced) findings.warn(finding('stamp-not-used'), { file });
  for (const check of report.checks) {
    const isRenewed = renewedBy !== null && check.id === 'tst.algorithms';
    const message = isRenewed
      ? finding('sound-when-renewed', {
          detail: check.message,
          size: renewedBy.size,
          time: renewedBy.time.toISOString(),
        })
      : messageFor(check, anchors);
    const outcome = isReplaced && check.outcome === 'fail' ? 'indeterminate' : check.outcome;
    findings.report(check.id, outcome, message, { file }, wasNotMade(check) ? causeOfStamp(report) : null);
  }
}

function messageFor(check: TimestampCheck, anchors: number): Finding {
  if (check.id !== 'tst.path' || anchors > 0) return tokenFinding(check);
  return finding('root-not-given');
}
