import type { TimestampReport } from '../../../schemas/rfc3161/report.js';
import type { Outcome } from '../findings/checks.js';
import { CHECKS } from '../findings/checks.js';
import type { Verdict } from '../findings/verdict.js';

interface ReportedCertificate {
  readonly subject: string;
  readonly issuer: string;
  /** Hexadecimal. */
  readonly serial: string;
  readonly not_before: string;
  readonly not_after: string;
}

/**
 * The verdict on one time stamp token: the object that `consent-verify timestamp --json` prints.
 */
export interface TokenReport {
  readonly format: 'consent-verify-timestamp';
  readonly version: 1;
  readonly verdict: Verdict;
  readonly checks: readonly {
    readonly id: string;
    readonly outcome: Outcome;
    readonly message: string;
    readonly meaning: string;
  }[];
  /** Statements of the token. They are only proved if the verdict is valid. Null if the token could not be read. */
  readonly claims: {
    /** RFC 3339, UTC, cut to milliseconds. */
    readonly time: string;
    /** The text in the token. */
    readonly time_text: string;
    /** Accuracy to either side, or null if the authority states none. */
    readonly accuracy_microseconds: number | null;
    readonly serial: string;
    readonly policy: string;
    /** Null if the hash is unknown. */
    readonly hash: string | null;
    readonly digest: string;
    readonly nonce: string | null;
    readonly authority: string | null;
  } | null;
  readonly signer: ReportedCertificate | null;
  /** From the signer's certificate to the root. */
  readonly chain: readonly ReportedCertificate[];
  readonly revocation: TimestampReport['revocation'];
  readonly sound_until: { readonly date: string; readonly reason: string } | null;
  readonly verified_at: string;
}

const VERDICTS = { pass: 'valid', fail: 'invalid', indeterminate: 'indeterminate' } as const;

/** @param at the time of verification */
export function tokenReport(report: TimestampReport, at: Date): TokenReport {
  const { claims, soundUntil } = report;
  return {
    format: 'consent-verify-timestamp',
    version: 1,
    verdict: VERDICTS[report.outcome],
    checks: report.checks.map(({ id, outcome, message }) => ({ id, outcome, message, meaning: CHECKS[id].meaning })),
    claims:
      claims === undefined
        ? null
        : {
            time: claims.genTime.toISOString(),
            time_text: claims.genTimeText,
            accuracy_microseconds: claims.accuracyMicroseconds ?? null,
            serial: claims.serial,
            policy: claims.policy,
            hash: claims.imprintAlgorithm ?? null,
            digest: claims.imprintDigest,
            nonce: claims.nonce ?? null,
            authority: claims.tsa ?? null,
          },
    signer: report.signer === undefined ? null : reportedCertificate(report.signer),
    chain: report.chain.map(reportedCertificate),
    revocation: report.revocation,
    sound_until: soundUntil === undefined ? null : { date: soundUntil.date.toISOString(), reason: soundUntil.reason },
    verified_at: at.toISOString(),
  };
}

function reportedCertificate(certificate: TimestampReport['chain'][number]): ReportedCertificate {
  const { subject, issuer, serial, notBefore, notAfter } = certificate;
  return { subject, issuer, serial, not_before: notBefore.toISOString(), not_after: notAfter.toISOString() };
}
