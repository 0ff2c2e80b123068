import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { TimestampReport } from '../../../schemas/rfc3161/report.js';
import { verifyTimestamp } from '../../../schemas/rfc3161/verify.js';
import type { PackageFiles } from '../files/package-files.js';
import type { Checkpoints, EnclosedCheckpoint } from '../ledger/checkpoints.js';
import { answersNear, type PkiFiles, readPkiFiles } from './pki-files.js';

/** A time stamp over a checkpoint. */
export interface Stamp {
  readonly size: number;
  readonly file: string;
  /** Hex SHA-256 of the response file: batches sealed later name it. */
  readonly sha256: string;
  readonly report: TimestampReport;
}

/** Stamps by size of their checkpoint, smallest first. */
export type Stamps = ReadonlyMap<number, Stamp>;

export interface TimestampTrust {
  /** DER certificates of the authorities that the person who verifies trusts. */
  readonly trustAnchors: readonly Uint8Array[];
  /** The time of verification. */
  readonly at: Date;
}

/** Verifies the time stamp of every checkpoint (RFC 3161, RFC 5816), at the time that it states. */
export async function verifyTimestamps(
  files: PackageFiles,
  checkpoints: Checkpoints,
  trust: TimestampTrust,
): Promise<Stamps> {
  const stamps = new Map<number, Stamp>();
  const pki = await readPkiFiles(files);
  for (const enclosed of checkpoints.values()) {
    const stamp = await verifyStamp(files, enclosed, pki, trust);
    if (stamp !== null) stamps.set(stamp.size, stamp);
  }
  return stamps;
}

async function verifyStamp(
  files: PackageFiles,
  { checkpoint, bytes }: EnclosedCheckpoint,
  pki: PkiFiles,
  { trustAnchors, at }: TimestampTrust,
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
  // What the token claims decides which of many CRLs are worth looking at; they are judged only then.
  const claimed = pki.crls.length + pki.ocsp.length === 0 ? undefined : (await verifyTimestamp(input)).claims;
  const time = claimed?.genTime.getTime() ?? 0;
  const report = await verifyTimestamp({
    ...input,
    crls: answersNear(pki.crls, time),
    ocspResponses: answersNear(pki.ocsp, time),
  });
  for (const check of report.checks) {
    files.findings.report(check.id, check.outcome, messageFor(check.id, check.message, trustAnchors.length), { file });
  }
  return { size: checkpoint.size, file, sha256: toHex(sha256(token)), report };
}

function messageFor(id: string, message: string, anchors: number): string {
  if (id !== 'tst.path' || anchors > 0) return message;
  return 'no root certificate of a time-stamp authority was given: get it from the authority itself, and give it with --tsa-ca';
}
