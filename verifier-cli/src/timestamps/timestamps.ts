import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { parseTimestamp } from '../../../schemas/rfc3161/cms/token.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import type { TimestampReport } from '../../../schemas/rfc3161/report.js';
import { verifyTimestamp } from '../../../schemas/rfc3161/verify.js';
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
 * Verifies the time stamp of every checkpoint (RFC 3161, RFC 5816), at the time that it states.
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
    const stamp = await verifyStamp(files, enclosed, pki, trust, renewals);
    if (stamp === null) continue;
    renewals.accept(stamp);
    stamps.push(stamp);
  }
  stamps.reverse();
  for (const stamp of stamps) reportStamp(stamp, files, trust.trustAnchors.length);
  return new Map(stamps.map((stamp) => [stamp.size, stamp]));
}

async function verifyStamp(
  files: PackageFiles,
  { checkpoint, bytes }: EnclosedCheckpoint,
  pki: PkiFiles,
  { trustAnchors, at }: TimestampTrust,
  renewals: Renewals,
): Promise<Stamp | null> {
  const file = PACKAGE_FILES.response(checkpoint.size);
  if (!files.has(file)) {
    files.findings.open('tst.format', 'the checkpoint has no time stamp', { file });
    return null;
  }
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

function reportStamp({ file, report, renewedBy }: Stamp, { findings }: PackageFiles, anchors: number): void {
  for (const check of report.checks) {
    const isRenewed = renewedBy !== null && check.id === 'tst.algorithms';
    const message = isRenewed
      ? `${check.message}; sound when checkpoint ${renewedBy.size} was stamped, on ${renewedBy.time.toISOString()}`
      : messageFor(check.id, check.message, anchors);
    findings.report(check.id, check.outcome, message, { file });
  }
}

function messageFor(id: string, message: string, anchors: number): string {
  if (id !== 'tst.path' || anchors > 0) return message;
  return 'no root certificate of a time stamp authority was given: get it from the authority and give it with --tsa-ca';
}
