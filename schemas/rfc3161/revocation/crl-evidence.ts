import { equalBytes } from '../../crypto/encoding.js';
import { attempt, MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import type { Strength } from '../strength.js';
import { type SpendWork, TOKEN_WORK } from '../work.js';
import type { Certificate } from '../x509/certificate.js';
import { verifySignedBytes } from '../x509/certificate-signature.js';
import { KEY_USAGE, type PointName } from '../x509/extensions.js';
import { sameName } from '../x509/names.js';
import { type Crl, type CrlScope, findCrlEntry } from './crl.js';
import type { RevocationEvidence, Unusable } from './evidence.js';

const UNDERSTOOD = new Set<string>([
  OID.authorityKeyIdentifier,
  OID.crlNumber,
  OID.issuingDistributionPoint,
  OID.issuerAltName,
  OID.expiredCertificatesOnCrl,
]);

/** A certificate of an issuer, with a key that may sign its CRLs. */
export interface CrlSigner {
  readonly certificate: Certificate;
  /** Why a list with this signer cannot clear a certificate, as in the evidence. */
  readonly limit: string | undefined;
}

/**
 * Reads the evidence of a CRL about a certificate (RFC 5280 §6.3). The list counts if it is the
 * certificate issuer's own, complete list, signed with any of its keys (§6.3.3 (f), (g)).
 *
 * @param otherSigners returns further certificates of the issuer, with other keys and valid paths; called if the
 * issuer's own key did not sign the list
 * @returns the evidence, or why the list says nothing about the certificate
 */
export async function crlEvidence(
  crl: Crl,
  certificate: Certificate,
  issuer: Certificate,
  spend: SpendWork,
  otherSigners: () => Promise<readonly CrlSigner[]> = async () => [],
): Promise<RevocationEvidence | Unusable> {
  if (!sameName(crl.issuer, issuer.subject)) return other('a CRL of another issuer');
  if (crl.extensions.has(OID.deltaCrlIndicator)) return other('a delta CRL, which this verifier does not use');
  const { scope } = crl;
  if (scope === 'unreadable') return unusable(`the scope of the CRL of ${crl.issuer.text} cannot be read`);
  if (!covers(scope, certificate)) return other(`a CRL of ${crl.issuer.text} that does not cover the certificate`);
  if (scope?.indirect) return unusable('an indirect CRL, which this verifier does not use');
  const signed = await signedBy(crl, { certificate: issuer, limit: undefined }, otherSigners, spend);
  if (typeof signed === 'string') return unusable(signed);
  spend(TOKEN_WORK.crlLookupByte * crl.tbs.length);
  const entry = attempt(() => findCrlEntry(crl, certificate.serial));
  if (entry instanceof MalformedInput)
    return unusable(`the CRL of ${crl.issuer.text} cannot be read: ${entry.message}`);
  return {
    source: `the CRL of ${crl.issuer.text}`,
    thisUpdate: crl.thisUpdate,
    nextUpdate: crl.nextUpdate,
    revoked: entry && { at: entry.revokedAt, reason: entry.unknownCritical ? undefined : entry.reason },
    limit: limitOf(crl.extensions, scope) ?? signed.limit,
    keptUntil: keptUntil(crl, certificate),
    strengths: signed.strengths,
  };
}

/** @returns the strengths that the signature depends on, or why no key signed the list */
async function signedBy(
  crl: Crl,
  { certificate, limit }: CrlSigner,
  others: () => Promise<readonly CrlSigner[]>,
  spend: SpendWork,
): Promise<{ readonly strengths: readonly Strength[]; readonly limit: string | undefined } | string> {
  const { known, publicKey, subject } = certificate;
  const mayNot = known.keyUsage !== undefined && !known.keyUsage.has(KEY_USAGE.crlSign);
  const { outcome, strengths } = mayNot
    ? { outcome: 'invalid', strengths: [] }
    : await verifySignedBytes(crl, publicKey, spend);
  if (outcome === 'valid') return { strengths, limit };
  for (const other of await others()) {
    const signed = await signedBy(crl, other, async () => [], spend);
    if (typeof signed !== 'string') return signed;
  }
  return mayNot
    ? `the key usage of ${subject.text} does not allow CRL signatures`
    : `the signature of the CRL of ${crl.issuer.text} is ${outcome}`;
}

const unusable = (reason: string): Unusable => ({ reason, isAbout: true });
const other = (reason: string): Unusable => ({ reason, isAbout: false });

function limitOf(extensions: Crl['extensions'], scope: CrlScope | undefined): string | undefined {
  const unknown = [...extensions.values()].find(({ critical, oid }) => critical && !UNDERSTOOD.has(oid));
  if (unknown !== undefined) return `has the unknown critical extension ${unknown.oid}`;
  return scope?.onlySomeReasons === true ? 'covers only some reasons' : undefined;
}

function keptUntil(crl: Crl, certificate: Certificate): Date | undefined {
  const since = crl.keepsExpiredSince;
  return since !== undefined && since.getTime() <= certificate.notAfter.getTime() ? undefined : certificate.notAfter;
}

/**
 * Returns whether the list's scope covers the certificate. A partitioned list must be the part that the certificate
 * names, or the one named after its issuer (RFC 5280 §6.3.3, last paragraph).
 */
function covers(scope: CrlScope | undefined, certificate: Certificate): boolean {
  if (scope === undefined) return true;
  const isCa = certificate.known.basicConstraints?.ca === true;
  if (scope.onlyAttributeCertificates) return false;
  if (isCa ? scope.onlyUserCertificates : scope.onlyCaCertificates) return false;
  const { names } = scope;
  if (names === undefined) return true;
  const own = certificate.known.crlDistributionPoints.flatMap((point) => (point.partial ? [] : point.names));
  const points: PointName[] = [...own, { kind: 'directory', name: certificate.issuer }];
  return points.some((point) => names.some((name) => samePoint(point, name)));
}

function samePoint(a: PointName, b: PointName): boolean {
  if (a.kind === 'directory') return b.kind === 'directory' && sameName(a.name, b.name);
  return b.kind !== 'directory' && equalBytes(a.raw, b.raw);
}
