import { X509Certificate } from 'node:crypto';
import { DEVELOPMENT_MARK } from '../../schemas/rfc3161/development-mark.js';

/** Display name of the development authority, whose address is meaningless and changes. */
export const DEVELOPMENT_AUTHORITY = 'development';

/**
 * SQL condition: a development authority stamped a checkpoint. The certificates of such an
 * authority contain a mark.
 * @param checkpoint alias of the row of `checkpoints`
 */
export function isDevelopmentStamp(checkpoint: 'c' | 'p'): string {
  return `exists (select from kept_evidence e
                   where e.sha256 = any(${checkpoint}.certificates) and e.kind = 'certificate'
                     and position(convert_to('${DEVELOPMENT_MARK}', 'UTF8') in e.bytes) > 0)`;
}

/** Display names of the authorities of a checkpoint. */
export function stampedBy(stamp: {
  readonly authorities: readonly string[];
  readonly is_development: boolean;
}): string[] {
  return stamp.is_development ? [DEVELOPMENT_AUTHORITY] : stamp.authorities.map(authorityName);
}

/**
 * Display name of a configured authority: its host only, because the rest of a URL may contain a
 * secret.
 */
export function authorityName(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'unknown';
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Parses the certificates of a PEM file (RFC 7468), in order. Other text is ignored.
 * @returns DER
 * @throws Error if a block is not a certificate
 */
export function certificatesOfPem(text: string): Uint8Array[] {
  return [...text.matchAll(BLOCK)].map(([block]) => new Uint8Array(new X509Certificate(block).raw));
}

/** Writes certificates as a PEM file (RFC 7468). @param certificates DER */
export function pemOfCertificates(certificates: readonly Uint8Array[]): string {
  return certificates.map((der) => new X509Certificate(der).toString()).join('');
}

/** A time from a token, with the authority's accuracy. */
export interface StatedTime {
  readonly genTime: Date;
  readonly accuracyMicroseconds: number | undefined;
}

/**
 * `ask-again`: after `pauseMs` milliseconds, an honest authority's clock has passed the earlier
 * time.
 */
export type TimeJudgement =
  | { readonly verdict: 'accept' }
  | { readonly verdict: 'ask-again'; readonly pauseMs: number }
  | { readonly verdict: 'refuse'; readonly reason: string };

const CLOCK_TOLERANCE_MS = 60_000;
const ORDER_TOLERANCE_MS = 1000;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Decides whether to accept a genTime. It must be within 60 s of our clock. It must not precede the
 * previous token's time by more than both accuracies and one second.
 *
 * @param sent our clock when the request was sent
 * @param received our clock when the response arrived
 */
export function judgeTime(
  stated: StatedTime,
  previous: StatedTime | undefined,
  sent: Date,
  received: Date,
): TimeJudgement {
  const time = stated.genTime.getTime();
  if (time < sent.getTime() - CLOCK_TOLERANCE_MS || time > received.getTime() + CLOCK_TOLERANCE_MS) {
    const reason = `its time ${stated.genTime.toISOString()} differs by more than 60 s from the clock of this machine`;
    return { verdict: 'refuse', reason };
  }
  if (previous === undefined) return { verdict: 'accept' };
  const tolerance = accuracyMs(stated) + accuracyMs(previous) + ORDER_TOLERANCE_MS;
  const behind = previous.genTime.getTime() - tolerance - time;
  return behind <= 0
    ? { verdict: 'accept' }
    : { verdict: 'ask-again', pauseMs: Math.min(behind + 100, LONGEST_PAUSE_MS) };
}

function accuracyMs({ accuracyMicroseconds }: StatedTime): number {
  return (accuracyMicroseconds ?? 0) / 1000;
}
