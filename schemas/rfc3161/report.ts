import type { HashAlgorithm } from '../crypto/algorithms.js';
import type { SpendWork } from './work.js';

/** The checks in their order; the ids are stable and part of the report's contract. */
export const TIMESTAMP_CHECKS = [
  'tst.format',
  'tst.status',
  'tst.content-type',
  'tst.version',
  'tst.single-signer',
  'tst.signed-attributes',
  'tst.imprint',
  'tst.signer-certificate',
  'tst.signature',
  'tst.ess',
  'tst.eku',
  'tst.key-usage',
  'tst.not-ca',
  'tst.path',
  'tst.revocation',
  'tst.algorithms',
  'tst.policy',
  'tst.nonce',
  'tst.extensions',
  'tst.tsa-name',
  'tst.time',
] as const;

export type TimestampCheckId = (typeof TIMESTAMP_CHECKS)[number];
export type CheckOutcome = 'pass' | 'fail' | 'indeterminate' | 'not-applicable';

/** One check of the report. `message` is readable text, and safe to print. */
export interface TimestampCheck {
  readonly id: TimestampCheckId;
  readonly outcome: CheckOutcome;
  readonly message: string;
}

/** Inputs of the check of one token. */
export interface TimestampInput {
  /** A TimeStampResp or a bare token, DER or BER. */
  readonly token: Uint8Array;
  /** Expected content of the stamp: the bytes themselves, or their digest. */
  readonly stamped:
    | { readonly data: Uint8Array }
    | { readonly imprint: { readonly algorithm: HashAlgorithm; readonly digest: Uint8Array } };
  /**
   * DER certificates that the relying party trusts: roots, intermediates or the signer's own.
   */
  readonly trustAnchors: readonly Uint8Array[];
  /** DER certificates that help to build the chain. Nothing in them is trusted. */
  readonly untrusted?: readonly Uint8Array[];
  /** DER CRLs. */
  readonly crls?: readonly Uint8Array[];
  /** DER OCSPResponses. */
  readonly ocspResponses?: readonly Uint8Array[];
  /** Whether a chain that names a source of revocations needs an answer from it. */
  readonly revocation: 'require' | 'ignore';
  /**
   * The time of verification, until which the algorithms must be secure. If a newer token covers this one, its genTime
   * may be given instead.
   */
  readonly at: Date;
  /** Counts the work; by default, up to `WORK_LIMIT`. */
  readonly spend?: SpendWork;
  /** The nonce of the request, as an unsigned big-endian number. */
  readonly expectedNonce?: Uint8Array;
  /** Dotted OIDs of the policies that are accepted. If omitted, any policy is. */
  readonly allowedPolicies?: readonly string[];
}

/** Statements of the token. They are proved only if the report's outcome is `pass`. */
export interface TimestampClaims {
  /** Cut to milliseconds. */
  readonly genTime: Date;
  /** Microseconds since 1970, with the precision of the token. */
  readonly genTimeMicroseconds: bigint;
  /** The text in the token, e.g. `20260102030405.678901Z`. */
  readonly genTimeText: string;
  /** Undefined if the authority states none. */
  readonly accuracyMicroseconds: number | undefined;
  /** Hexadecimal content octets of the INTEGER. */
  readonly serial: string;
  readonly policy: string;
  readonly imprintAlgorithm: HashAlgorithm | undefined;
  /** Hexadecimal. */
  readonly imprintDigest: string;
  /** Hexadecimal content octets of the INTEGER. */
  readonly nonce: string | undefined;
  readonly ordering: boolean;
  /** Name of the authority by its own account, safe to print. */
  readonly tsa: string | undefined;
}

/** A certificate as the report shows it; the texts are safe to print. */
export interface CertificateSummary {
  readonly subject: string;
  readonly issuer: string;
  readonly serial: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** How long a token remains valid. The texts are safe to print. */
export interface SoundUntil {
  readonly date: Date;
  /** Readable text in English. */
  readonly reason: string;
  /** The certificate that expires, or the algorithm or key that is no longer considered sound. */
  readonly cause: { readonly kind: 'certificate' | 'algorithm'; readonly name: string };
}

/** The answer of `verifyTimestamp`. */
export interface TimestampReport {
  /** `fail` if any check fails, else `indeterminate` if any is, else `pass`. */
  readonly outcome: 'pass' | 'fail' | 'indeterminate';
  /** All of `TIMESTAMP_CHECKS`, in that order. */
  readonly checks: readonly TimestampCheck[];
  /** Undefined if the token could not be read. */
  readonly claims: TimestampClaims | undefined;
  readonly signer: CertificateSummary | undefined;
  /** From the signer's certificate to the trust anchor. Empty if no chain was found. */
  readonly chain: readonly CertificateSummary[];
  /** DER of the same certificates, for callers that store them or query their state. */
  readonly chainCertificates: readonly Uint8Array[];
  /**
   * The organization of the trust anchor, which distinguishes authorities: `Name.organization` of its subject.
   * Undefined if no chain was found.
   */
  readonly organization: string | undefined;
  /**
   * State of the revocation check. `provisional` passes, and a later CRL or OCSP response would make the result
   * conclusive.
   */
  readonly revocation: 'conclusive' | 'provisional' | 'indeterminate' | 'revoked' | 'not-applicable' | 'ignored';
  /**
   * The time until which the token remains valid without a newer token over it: the first expiry of a certificate of
   * the chain or the first sunset of an algorithm. Undefined if no chain was found.
   */
  readonly soundUntil: SoundUntil | undefined;
}

const MAX_TEXT = 600;

/** Builds one check. Long messages are truncated, because names in certificates can have any length. */
export function check(id: TimestampCheckId, outcome: CheckOutcome, message: string): TimestampCheck {
  return { id, outcome, message: cutText(message) };
}

/** Truncates a text to 600 characters. It is a copy, because a slice would keep the long text in memory. */
export function cutText(text: string): string {
  return text.length <= MAX_TEXT ? text : `${Array.from(text.slice(0, MAX_TEXT)).join('').toWellFormed()}…`;
}

const NOT_CHECKED = 'not checked';

/** Builds a check that was not made because another check failed or is undecided. @param reason the cause */
export function notChecked(id: TimestampCheckId, reason: string): TimestampCheck {
  return check(id, 'indeterminate', `${NOT_CHECKED}${reason}`);
}

/** Whether a check was not made because of another check. */
export function wasNotMade({ outcome, message }: TimestampCheck): boolean {
  return outcome === 'indeterminate' && message.startsWith(NOT_CHECKED);
}

/** The overall outcome of a list of checks. */
export function outcomeOf(checks: readonly TimestampCheck[]): TimestampReport['outcome'] {
  if (checks.some(({ outcome }) => outcome === 'fail')) return 'fail';
  return checks.some(({ outcome }) => outcome === 'indeterminate') ? 'indeterminate' : 'pass';
}

/** Returns all checks in order. Those that were not made because of an earlier failure are indeterminate. */
export function completeChecks(made: readonly TimestampCheck[]): TimestampCheck[] {
  return TIMESTAMP_CHECKS.map(
    (id) => made.find((candidate) => candidate.id === id) ?? notChecked(id, ', because an earlier check failed'),
  );
}
