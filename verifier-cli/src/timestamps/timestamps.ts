import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { MAX_TOKENS } from '../../../schemas/events/ledger.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { parseTimestamp } from '../../../schemas/rfc3161/cms/token.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import type { TimestampReport } from '../../../schemas/rfc3161/report.js';
import { verifyTimestamp } from '../../../schemas/rfc3161/verify.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
import type { Findings } from '../findings/findings.js';
import type { Checkpoints, EnclosedCheckpoint } from '../ledger/checkpoints.js';
import { answersNear, type PkiFiles, readPkiFiles } from './pki-files.js';
import { NO_HISTORY, type RenewalHistory, Renewals } from './renewals.js';
import type { Stamp, Stamps } from './stamp.js';
import { asOfSunset } from './sunset.js';

export interface TimestampTrust {
  /** DER certificates of the authorities that the person who verifies trusts. */
  readonly trustAnchors: readonly Uint8Array[];
  /** The time of verification. */
  readonly at: Date;
}

/**
 * Verifies every time stamp of every checkpoint (RFC 3161, RFC 5816), at the time that it states.
 * Each is evaluated by the algorithms sound at the time of verification; one that is no longer
 * sound, by those sound when a newer valid stamp renewed it (RFC 4998 §5.3).
 * @param history what ties the checkpoints to one another; without it nothing is renewed
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
      files.findings.fail('container.limits', `the package includes more than ${LIMITS.stamps} time stamps`);
      break;
    }
    const own: Stamp[] = [];
    for (const file of found) {
      const stamp = await verifyStamp(files, file, enclosed, pki, trust, renewals);
      if (stamp !== null) own.push(stamp);
    }
    for (const stamp of own) renewals.accept(stamp);
    stamps.push(...own.toReversed());
  }
  stamps.reverse();
  const stamped = new Set(stamps.filter(({ report }) => report.outcome === 'pass').map(({ size }) => size));
  for (const stamp of stamps) reportStamp(stamp, stamped.has(stamp.size), files, trust.trustAnchors.length);
  return stamps;
}

function responsesOf(size: number, files: PackageFiles): readonly string[] {
  const numbers = Array.from({ length: MAX_TOKENS }, (_, index) => index + 1);
  const found = numbers.map((number) => PACKAGE_FILES.response(size, number)).filter((file) => files.has(file));
  if (found.length === 0)
    files.findings.open('tst.format', 'the checkpoint has no time stamp', { file: PACKAGE_FILES.response(size, 1) });
  return found;
}

async function verifyStamp(
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
  } as const;
  const answers = answersFor(token, pki, files.findings);
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

/** The claims of the token select the CRLs to evaluate, of which there may be many. */
function answersFor(token: Uint8Array, { crls, ocsp, budget }: PkiFiles, findings: Findings) {
  const parsed = attempt(() => parseTimestamp(token));
  const time = parsed instanceof MalformedInput ? undefined : parsed.tstInfo?.genTime.date.getTime();
  const answers = { crls: answersNear(crls, time ?? 0), ocspResponses: answersNear(ocsp, time ?? 0) };
  const size = [...answers.crls, ...answers.ocspResponses].reduce((sum, der) => sum + der.length, 0);
  if (time !== undefined && budget.take(size)) return answers;
  if (time !== undefined)
    findings.fail(
      'container.limits',
      'the CRLs and OCSP responses would have to be read too often for all time stamps',
    );
  return { crls: [], ocspResponses: [] };
}

/** Copies certificates: as views they would keep thousands of tokens in memory. */
function withoutBytes(report: TimestampReport): TimestampReport {
  return { ...report, chainCertificates: [] };
}

/**
 * Reports the checks of one stamp. One that fails proves nothing, and contradicts nothing either: it
 * stays open if another stamp of its checkpoint is valid.
 */
function reportStamp(
  { file, report, renewedBy }: Stamp,
  isStamped: boolean,
  { findings }: PackageFiles,
  anchors: number,
): void {
  const isReplaced = report.outcome === 'fail' && isStamped;
  if (isReplaced)
    findings.warn('the time stamp is invalid and was not used: another one of its checkpoint is valid', { file });
  for (const check of report.checks) {
    const isRenewed = renewedBy !== null && check.id === 'tst.algorithms';
    const message = isRenewed
      ? `${check.message}; sound when checkpoint ${renewedBy.size} was stamped, on ${renewedBy.time.toISOString()}`
      : messageFor(check.id, check.message, anchors);
    const outcome = isReplaced && check.outcome === 'fail' ? 'indeterminate' : check.outcome;
    findings.report(check.id, outcome, message, { file });
  }
}

function messageFor(id: string, message: string, anchors: number): string {
  if (id !== 'tst.path' || anchors > 0) return message;
  return 'no root certificate of a time stamp authority was given: get it from the authority and give it with --tsa-ca';
}
