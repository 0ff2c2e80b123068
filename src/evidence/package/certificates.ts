import { X509Certificate } from 'node:crypto';
import { equalBytes } from '../../../schemas/crypto/encoding.js';
import { parseTimestamp } from '../../../schemas/rfc3161/cms/token.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';

/**
 * Whether a verifier can need a certificate that was gathered with time stamps. It does not if each
 * token has the certificate, because each is verified with its own certificates. It does not need a
 * self-signed certificate either: a chain ends at a root that the verifying person gives.
 * @param der the certificate
 * @param responses all TimeStampResps that are verified with it, DER
 */
export function isCertificateNeeded(der: Uint8Array, responses: readonly Uint8Array[]): boolean {
  if (isSelfSigned(der)) return false;
  return responses.some((response) => {
    const token = attempt(() => parseTimestamp(response));
    if (token instanceof MalformedInput) return true;
    return token.signedData?.certificates.some((one) => equalBytes(one, der)) !== true;
  });
}

function isSelfSigned(der: Uint8Array): boolean {
  try {
    const certificate = new X509Certificate(der);
    return certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey);
  } catch {
    // A certificate or key that OpenSSL cannot read stays in the receipt.
    return false;
  }
}
