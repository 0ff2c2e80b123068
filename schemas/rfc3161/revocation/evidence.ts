import type { Strength } from '../strength.js';

/**
 * Statement of one CRL or OCSP answer about one certificate. Its signature and its scope have
 * been checked.
 */
export interface RevocationEvidence {
  /** Name of the CRL or OCSP response, as readable text. */
  readonly source: string;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | undefined;
  /** Undefined if the certificate is not revoked as of thisUpdate. */
  readonly revoked: { readonly at: Date; readonly reason: number | undefined } | undefined;
  /**
   * Why the evidence can only incriminate the certificate and not clear it, as the end of a sentence about `source`.
   * Undefined if the evidence can clear it.
   */
  readonly limit: string | undefined;
  /**
   * Until when the issuer keeps entries of this certificate. The issuer may drop them after the certificate expires.
   */
  readonly keptUntil: Date | undefined;
  readonly strengths: readonly Strength[];
}

/** A CRL or OCSP answer that says nothing useful about a certificate. */
export interface Unusable {
  /** The reason, as readable text. */
  readonly reason: string;
  /**
   * Whether the answer is about this certificate. If so, the certificate has a source of revocation information even if
   * it names none, and the state that the source reports is unknown.
   */
  readonly isAbout: boolean;
}

/** The conclusion at genTime from all evidence about one certificate. */
export interface RevocationVerdict {
  /** Worst first. `conclusive` and `provisional` are passes. */
  readonly state: 'revoked' | 'indeterminate' | 'provisional' | 'conclusive' | 'not-applicable';
  readonly message: string;
  readonly strengths: readonly Strength[];
}

const REASONS = [
  'unspecified',
  'key compromise',
  'CA compromise',
  'affiliation changed',
  'superseded',
  'cessation of operation',
  'certificate hold',
  'reason 7',
  'removed from the list',
  'privilege withdrawn',
  'attribute authority compromise',
];
/** Revocation reasons after which earlier tokens remain valid (RFC 3161 §4). */
const ORDERLY = new Set([0, 3, 4, 5]);
/** Revocation reasons that also invalidate earlier tokens (RFC 3161 §4). */
const COMPROMISE = new Set([1, 2, 10]);

/**
 * Weighs the evidence about one certificate (RFC 3161 §4).
 *
 * @param genTime time that the token states
 * @param isSigner whether the certificate is the authority's own: RFC 3161 §4 then reads a
 *   revocation without a reason as the worst one
 */
export function weighEvidence(
  evidence: readonly RevocationEvidence[],
  genTime: Date,
  isSigner: boolean,
): RevocationVerdict {
  const accusations = evidence.flatMap((item) =>
    item.revoked ? [evaluateRevocation(item, item.revoked, genTime, isSigner)] : [],
  );
  const worst =
    accusations.find(({ state }) => state === 'revoked') ?? accusations.find(({ state }) => state === 'indeterminate');
  if (worst !== undefined) return worst;
  const verdicts = [
    ...accusations,
    ...evidence
      .filter((item) => item.limit === undefined && !item.revoked)
      .map((item) => evaluateAbsence(item, genTime)),
  ];
  return (
    verdicts.find(({ state }) => state === 'conclusive') ??
    verdicts.find(({ state }) => state === 'provisional') ??
    verdicts[0] ?? { state: 'indeterminate', message: 'no CRL or OCSP response covers it', strengths: [] }
  );
}

function evaluateRevocation(
  { source, strengths }: RevocationEvidence,
  revoked: { readonly at: Date; readonly reason: number | undefined },
  genTime: Date,
  isSigner: boolean,
): RevocationVerdict {
  const reason =
    revoked.reason === undefined ? 'no reason given' : (REASONS[revoked.reason] ?? `reason ${revoked.reason}`);
  const message = `revoked on ${revoked.at.toISOString()} (${reason}) according to ${source}`;
  if (revoked.at.getTime() <= genTime.getTime()) return { state: 'revoked', message, strengths };
  if (revoked.reason === undefined) {
    return isSigner
      ? {
          state: 'revoked',
          message: `${message}; because no reason is given, earlier tokens are invalid too`,
          strengths,
        }
      : { state: 'indeterminate', message, strengths };
  }
  if (COMPROMISE.has(revoked.reason))
    return { state: 'revoked', message: `${message}: earlier tokens are invalid too`, strengths };
  if (!ORDERLY.has(revoked.reason)) return { state: 'indeterminate', message, strengths };
  return { state: 'conclusive', message: `${message}, after the time stamp: earlier tokens stay valid`, strengths };
}

function evaluateAbsence(item: RevocationEvidence, genTime: Date): RevocationVerdict {
  const { source, thisUpdate, nextUpdate, keptUntil, strengths } = item;
  const from = thisUpdate.toISOString();
  if (keptUntil !== undefined && thisUpdate.getTime() > keptUntil.getTime()) {
    const message = `${source} of ${from} was issued after the certificate expired and may no longer list it`;
    return { state: 'indeterminate', message, strengths };
  }
  if (thisUpdate.getTime() >= genTime.getTime()) {
    return {
      state: 'conclusive',
      message: `not revoked according to ${source} of ${from}, issued after the time stamp`,
      strengths,
    };
  }
  if (nextUpdate !== undefined && genTime.getTime() <= nextUpdate.getTime()) {
    const message = `not revoked according to ${source} of ${from}, in force at the time of the stamp (provisional: a later one would be conclusive)`;
    return { state: 'provisional', message, strengths };
  }
  return {
    state: 'indeterminate',
    message: `${source} of ${from} is too old to cover the time of the stamp`,
    strengths,
  };
}
