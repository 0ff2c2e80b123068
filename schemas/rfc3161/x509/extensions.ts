import { context, explicit, Fields, hasTag, listOf, TAG } from '../asn1/fields.js';
import { type Asn1Node, childrenOf, readSingle } from '../asn1/reader.js';
import { booleanValue, namedBits, octetStringValue, oidValue, smallInteger } from '../asn1/values.js';
import { MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import { type GeneralName, parseGeneralName, parseGeneralNames } from './general-names.js';
import { type Name, type NameForm, nameBelow } from './names.js';

/** One extension of a certificate, CRL, OCSP response or TSTInfo. Its value is not parsed. */
export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  /** The octets inside extnValue. */
  readonly value: Uint8Array;
}

export type Extensions = ReadonlyMap<string, Extension>;

/** Bits of KeyUsage (RFC 5280 §4.2.1.3). */
export const KEY_USAGE = { digitalSignature: 0, nonRepudiation: 1, keyCertSign: 5, crlSign: 6 } as const;

/** @throws MalformedInput including for an extension that occurs twice (RFC 5280 §4.2) */
export function parseExtensions(node: Asn1Node): Extensions {
  return collectExtensions(listOf(node, TAG.sequence, 'extensions'));
}

/** The same if the list itself is under an IMPLICIT tag (TSTInfo). @throws MalformedInput */
export function collectExtensions(nodes: readonly Asn1Node[]): Extensions {
  const extensions = new Map<string, Extension>();
  for (const item of nodes) {
    const fields = new Fields(item, 'extension');
    const oid = oidValue(fields.required(TAG.oid, 'extnID'), 'extnID');
    const critical = fields.optional(TAG.boolean);
    const value = octetStringValue(fields.required(TAG.octetString, 'extnValue'), 'extnValue');
    fields.finish();
    if (extensions.has(oid)) throw new MalformedInput('contradiction', `extension ${oid} occurs twice`);
    extensions.set(oid, { oid, critical: critical !== undefined && booleanValue(critical, 'critical'), value });
  }
  return extensions;
}

/** The values of a certificate's extensions that path validation and revocation read. */
export interface CertificateExtensions {
  readonly basicConstraints: { readonly ca: boolean; readonly pathLength: number | undefined } | undefined;
  readonly keyUsage: ReadonlySet<number> | undefined;
  readonly extendedKeyUsage: readonly string[] | undefined;
  readonly subjectKeyIdentifier: Uint8Array | undefined;
  readonly authorityKeyIdentifier: Uint8Array | undefined;
  readonly subjectAltNames: readonly GeneralName[];
  readonly crlDistributionPoints: readonly DistributionPoint[];
  readonly ocspUrls: readonly string[];
  readonly issuerUrls: readonly string[];
}

/** Locations of a CRL for the certificate (RFC 5280 §4.2.1.13). */
export interface DistributionPoint {
  readonly names: readonly PointName[];
  /** Whether the point covers only some reasons, or its CRL has an issuer other than that of the certificate. */
  readonly partial: boolean;
}

/** A name of a distribution point. A name relative to the issuer of the CRL is resolved. */
export type PointName =
  | Exclude<GeneralName, { kind: 'directory' }>
  | { readonly kind: 'directory'; readonly name: NameForm };

/** @param issuer issuer of the certificate @throws MalformedInput */
export function readCertificateExtensions(extensions: Extensions, issuer: Name): CertificateExtensions {
  const read = <T>(oid: string, parse: (node: Asn1Node) => T): T | undefined => {
    const extension = extensions.get(oid);
    return extension && parse(readSingle(extension.value));
  };
  const access = read(OID.authorityInformationAccess, parseAccess) ?? [];
  const urlsOf = (method: string) => access.filter((entry) => entry.method === method).map((entry) => entry.url);
  return {
    basicConstraints: read(OID.basicConstraints, parseBasicConstraints),
    keyUsage: read(OID.keyUsage, (node) => {
      if (!hasTag(node, TAG.bitString)) throw new MalformedInput('bad-tag', 'keyUsage is not a BIT STRING');
      return namedBits(node.content, 'keyUsage');
    }),
    extendedKeyUsage: read(OID.extendedKeyUsage, (node) =>
      listOf(node, TAG.sequence, 'extendedKeyUsage').map((purpose) => oidValue(purpose, 'purpose')),
    ),
    subjectKeyIdentifier: read(OID.subjectKeyIdentifier, (node) => octetStringValue(node, 'subjectKeyIdentifier')),
    authorityKeyIdentifier: read(OID.authorityKeyIdentifier, parseAuthorityKeyIdentifier),
    subjectAltNames: read(OID.subjectAltName, parseGeneralNames) ?? [],
    crlDistributionPoints: read(OID.crlDistributionPoints, (node) => parseDistributionPoints(node, issuer)) ?? [],
    ocspUrls: urlsOf(OID.accessOcsp),
    issuerUrls: urlsOf(OID.accessCaIssuers),
  };
}

function parseBasicConstraints(node: Asn1Node): { ca: boolean; pathLength: number | undefined } {
  const fields = new Fields(node, 'basicConstraints');
  const ca = fields.optional(TAG.boolean);
  const pathLength = fields.optional(TAG.integer);
  fields.finish();
  return {
    ca: ca !== undefined && booleanValue(ca, 'cA'),
    pathLength: pathLength && smallInteger(pathLength, 'pathLenConstraint'),
  };
}

function parseAuthorityKeyIdentifier(node: Asn1Node): Uint8Array | undefined {
  return new Fields(node, 'authorityKeyIdentifier').optional(context(0, false))?.content;
}

function parseAccess(node: Asn1Node): { method: string; url: string }[] {
  return listOf(node, TAG.sequence, 'authorityInfoAccess').flatMap((item) => {
    const fields = new Fields(item, 'accessDescription');
    const method = oidValue(fields.required(TAG.oid, 'accessMethod'), 'accessMethod');
    const location = parseGeneralName(fields.requiredAny('accessLocation'));
    fields.finish();
    return location.kind === 'uri' ? [{ method, url: location.value }] : [];
  });
}

function parseDistributionPoints(node: Asn1Node, issuer: Name): DistributionPoint[] {
  return listOf(node, TAG.sequence, 'cRLDistributionPoints').map((item) => {
    const fields = new Fields(item, 'distributionPoint');
    const name = fields.optional(context(0));
    const reasons = fields.optional(context(1, false));
    const crlIssuer = fields.optional(context(2));
    fields.finish();
    return {
      names: name === undefined ? [] : distributionPointNames(explicit(name, 'distributionPoint'), issuer),
      partial: reasons !== undefined || crlIssuer !== undefined,
    };
  });
}

/**
 * The names of a DistributionPointName (RFC 5280 §4.2.1.13).
 * @param issuer issuer of the CRL, to which a nameRelativeToCRLIssuer is relative
 * @throws MalformedInput
 */
export function distributionPointNames(node: Asn1Node, issuer: NameForm): PointName[] {
  if (hasTag(node, context(0))) return childrenOf(node).map(parseGeneralName);
  if (hasTag(node, context(1))) return [{ kind: 'directory', name: nameBelow(issuer, childrenOf(node)) }];
  return [];
}
