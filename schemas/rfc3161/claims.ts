import type { HashAlgorithm } from '../crypto/algorithms.js';
import { toHex } from '../crypto/encoding.js';
import { hashOf } from './algorithms.js';
import type { TstInfo } from './cms/tst-info.js';
import { attempt, MalformedInput } from './errors.js';
import { type CertificateSummary, cutText, type TimestampClaims } from './report.js';
import type { Certificate } from './x509/certificate.js';
import { describeGeneralName } from './x509/general-names.js';

/** Returns the statements of a token, in the form of the report. */
export function claimsOf({
  genTime,
  accuracyMicroseconds,
  serial,
  policy,
  imprint,
  nonce,
  ordering,
  tsa,
}: TstInfo): TimestampClaims {
  return {
    genTime: genTime.date,
    genTimeMicroseconds: genTime.microseconds,
    genTimeText: genTime.text,
    accuracyMicroseconds,
    serial: toHex(serial),
    policy,
    imprintAlgorithm: imprintHash(imprint),
    imprintDigest: cutText(toHex(imprint.digest)),
    nonce: nonce && toHex(nonce),
    ordering,
    tsa: tsa && cutText(describeGeneralName(tsa)),
  };
}

/** Returns the hash of the imprint, or undefined if it is unknown or malformed. */
export function imprintHash({ algorithm }: TstInfo['imprint']): HashAlgorithm | undefined {
  const hash = attempt(() => hashOf(algorithm, 'messageImprint'));
  return hash instanceof MalformedInput ? undefined : hash;
}

/** A certificate, in the form of the report. */
export function summaryOf({ subject, issuer, serialHex, notBefore, notAfter }: Certificate): CertificateSummary {
  return { subject: cutText(subject.text), issuer: cutText(issuer.text), serial: serialHex, notBefore, notAfter };
}
