import { equalBytes } from '../../crypto/encoding.js';
import { hashBytes } from '../../crypto/signature-verification.js';
import { attempt, MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import type { Strength } from '../strength.js';
import { type SpendWork, TOKEN_WORK } from '../work.js';
import { type Certificate, parseCertificate } from '../x509/certificate.js';
import { verifySignedBytes } from '../x509/certificate-signature.js';
import { KEY_USAGE } from '../x509/extensions.js';
import { sameName } from '../x509/names.js';
import type { RevocationEvidence, Unusable } from './evidence.js';
import type { OcspAnswer, OcspResponse } from './ocsp.js';

/**
 * Reads the evidence of an OCSP response about a certificate (RFC 6960 §3.2). The response counts
 * if it covers the certificate, its signature is valid, and the certificate's issuer authorized
 * its signer.
 *
 * @returns the evidence of each answer in it about the certificate, or why the response says
 *   nothing about it
 */
export async function ocspEvidence(
  response: OcspResponse,
  certificate: Certificate,
  issuer: Certificate,
  spend: SpendWork,
): Promise<readonly RevocationEvidence[] | Unusable> {
  // Each answer names the issuer by hashes of these.
  spend(response.answers.length * (certificate.issuer.raw.length + issuer.publicKey.bits.length));
  const answers = response.answers.filter((candidate) => isAbout(candidate, certificate, issuer));
  if (answers.length === 0) return { reason: 'an OCSP response about another certificate', isAbout: false };
  const signed = await verifyResponder(response, issuer, spend);
  if (typeof signed === 'string') return { reason: signed, isAbout: true };
  const source = `the OCSP response of ${signed.responder.subject.text}`;
  if (answers.some(({ status }) => status.kind === 'unknown')) {
    return { reason: `${source} does not know the certificate`, isAbout: true };
  }
  return answers.map((answer) => evidenceOf(answer, response, certificate, { source, strengths: signed.strengths }));
}

function evidenceOf(
  answer: OcspAnswer,
  response: OcspResponse,
  certificate: Certificate,
  signed: Pick<RevocationEvidence, 'source' | 'strengths'>,
): RevocationEvidence {
  const extensions = [...response.extensions.values(), ...answer.extensions.values()];
  const unknown = extensions.find(
    ({ critical, oid }) => critical && oid !== OID.ocspNonce && oid !== OID.ocspArchiveCutoff,
  );
  const { archiveCutoff } = answer;
  const keeps = archiveCutoff !== undefined && archiveCutoff.getTime() <= certificate.notAfter.getTime();
  return {
    ...signed,
    thisUpdate: answer.thisUpdate,
    nextUpdate: answer.nextUpdate,
    revoked:
      answer.status.kind === 'revoked' ? { at: answer.status.revokedAt, reason: answer.status.reason } : undefined,
    limit: unknown && `has the unknown critical extension ${unknown.oid}`,
    keptUntil: keeps ? undefined : certificate.notAfter,
  };
}

function isAbout(answer: OcspAnswer, certificate: Certificate, issuer: Certificate): boolean {
  const { hash } = answer;
  return (
    hash !== undefined &&
    equalBytes(answer.serial, certificate.serial) &&
    equalBytes(answer.issuerNameHash, hashBytes(hash, certificate.issuer.raw)) &&
    equalBytes(answer.issuerKeyHash, hashBytes(hash, issuer.publicKey.bits))
  );
}

/**
 * RFC 6960 §4.2.2.2: the issuer itself, or a delegate with a certificate for OCSP signing directly
 * from the issuer.
 */
async function verifyResponder(
  response: OcspResponse,
  issuer: Certificate,
  spend: SpendWork,
): Promise<{ responder: Certificate; strengths: Strength[] } | string> {
  if (isResponder(response, issuer)) {
    const { outcome, strengths } = await verifySignedBytes(response, issuer.publicKey, spend);
    if (outcome === 'valid') return { responder: issuer, strengths };
  }
  for (const der of response.certificates) {
    spend(TOKEN_WORK.asn1Byte * der.length);
    const delegate = attempt(() => parseCertificate(der));
    if (delegate instanceof MalformedInput || !isResponder(response, delegate)) continue;
    const problem = delegateProblem(delegate, issuer, response.producedAt);
    if (problem !== undefined) return `the OCSP responder ${delegate.subject.text} ${problem}`;
    const certified = await verifySignedBytes(delegate, issuer.publicKey, spend);
    if (certified.outcome !== 'valid')
      return `the OCSP responder ${delegate.subject.text} is not certified by the issuer`;
    const { outcome, strengths } = await verifySignedBytes(response, delegate.publicKey, spend);
    if (outcome !== 'valid') return `the signature of the OCSP response of ${delegate.subject.text} is ${outcome}`;
    return { responder: delegate, strengths: [...strengths, ...certified.strengths] };
  }
  return 'an OCSP response whose signer is not authorized, or whose signature is invalid';
}

function isResponder({ responder }: OcspResponse, candidate: Certificate): boolean {
  if ('name' in responder) return sameName(responder.name, candidate.subject);
  return equalBytes(responder.keyHash, hashBytes('sha1', candidate.publicKey.bits));
}

function delegateProblem(delegate: Certificate, issuer: Certificate, producedAt: Date): string | undefined {
  const { known, notBefore, notAfter } = delegate;
  if (!sameName(delegate.issuer, issuer.subject)) return 'is not certified by the issuer';
  if (!known.extendedKeyUsage?.includes(OID.ekuOcspSigning)) return 'may not sign OCSP responses';
  if (
    known.keyUsage !== undefined &&
    !known.keyUsage.has(KEY_USAGE.digitalSignature) &&
    !known.keyUsage.has(KEY_USAGE.nonRepudiation)
  ) {
    return 'has a key that may not be used for signatures';
  }
  if (producedAt.getTime() < notBefore.getTime() || producedAt.getTime() >= notAfter.getTime() + 1000) {
    return 'signed the response outside the validity of its certificate';
  }
  return undefined;
}
