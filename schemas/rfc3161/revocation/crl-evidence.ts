import { equalBytes } from '../../crypto/encoding.js';
import { attempt, MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import { type SpendWork, TOKEN_WORK } from '../work.js';
import type { Certificate } from '../x509/certificate.js';
import { verifySignedBytes } from '../x509/certificate-signature.js';
import { KEY_USAGE } from '../x509/extensions.js';
import type { GeneralName } from '../x509/general-names.js';
import { sameName } from '../x509/names.js';
import { type Crl, findCrlEntry } from './crl.js';
import type { RevocationEvidence } from './evidence.js';

const UNDERSTOOD = new Set<string>([
  OID.authorityKeyIdentifier,
  OID.crlNumber,
  OID.issuingDistributionPoint,
  OID.issuerAltName,
  OID.expiredCertificatesOnCrl,
]);

/**
 * Reads the evidence of a CRL about a certificate (RFC 5280 §6.3). The list counts if it is the
 * certificate issuer's own, complete list.
 *
 * @returns the evidence, or in words why the list says nothing about the certificate
 */
export async function crlEvidence(
  crl: Crl,
  certificate: Certificate,
  issuer: Certificate,
  spend: SpendWork,
): Promise<RevocationEvidence | string> {
  if (!sameName(crl.issuer, issuer.subject)) return 'a CRL of another issuer';
  if (crl.extensions.has(OID.deltaCrlIndicator)) return 'a delta CRL, which this verifier does not use';
  if (crl.scope?.indirect) return 'an indirect CRL, which this verifier does not use';
  if (issuer.known.keyUsage !== undefined && !issuer.known.keyUsage.has(KEY_USAGE.crlSign)) {
    return `the key usage of ${issuer.subject.text} does not allow CRL signatures`;
  }
  const { outcome, strengths } = await verifySignedBytes(crl, issuer.publicKey, spend);
  if (outcome !== 'valid') return `the signature of the CRL of ${crl.issuer.text} is ${outcome}`;
  if (!covers(crl, certificate)) return `a CRL of ${crl.issuer.text} that does not cover the certificate`;
  spend(TOKEN_WORK.crlLookupByte * crl.tbs.length);
  const entry = attempt(() => findCrlEntry(crl, certificate.serial));
  if (entry instanceof MalformedInput) return `the CRL of ${crl.issuer.text} cannot be read: ${entry.message}`;
  return {
    source: `the CRL of ${crl.issuer.text}`,
    thisUpdate: crl.thisUpdate,
    nextUpdate: crl.nextUpdate,
    revoked: entry && { at: entry.revokedAt, reason: entry.unknownCritical ? undefined : entry.reason },
    limit: limitOf(crl),
    keptUntil: keptUntil(crl, certificate),
    strengths,
  };
}

function limitOf({ extensions, scope }: Crl): string | undefined {
  const unknown = [...extensions.values()].find(({ critical, oid }) => critical && !UNDERSTOOD.has(oid));
  if (unknown !== undefined) return `has the unknown critical extension ${unknown.oid}`;
  return scope?.onlySomeReasons === true ? 'covers only some reasons' : undefined;
}

function keptUntil(crl: Crl, certificate: Certificate): Date | undefined {
  const since = crl.keepsExpiredSince;
  return since !== undefined && since.getTime() <= certificate.notAfter.getTime() ? undefined : certificate.notAfter;
}

/**
 * Whether the list's scope holds the certificate; a list that is one part of many must be the part
 * it names.
 */
function covers({ scope }: Crl, certificate: Certificate): boolean {
  if (scope === undefined) return true;
  const isCa = certificate.known.basicConstraints?.ca === true;
  if (scope.onlyAttributeCertificates) return false;
  if (isCa ? scope.onlyUserCertificates : scope.onlyCaCertificates) return false;
  if (scope.names.length === 0) return true;
  const points = certificate.known.crlDistributionPoints;
  return points.some(
    (point) => !point.partial && point.names.some((name) => scope.names.some((other) => sameGeneralName(name, other))),
  );
}

function sameGeneralName(a: GeneralName, b: GeneralName): boolean {
  if (a.kind === 'directory' && b.kind === 'directory') return sameName(a.name, b.name);
  return equalBytes(a.raw, b.raw);
}
