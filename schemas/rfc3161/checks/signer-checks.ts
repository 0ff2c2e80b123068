import type { HashAlgorithm } from '../../crypto/algorithms.js';
import { concatBytes, equalBytes } from '../../crypto/encoding.js';
import { hashBytes, verifySignature } from '../../crypto/signature-verification.js';
import { hashOf, parseAlgorithmIdentifier, signatureSchemeOf } from '../algorithms.js';
import { Fields, listOf, TAG } from '../asn1/fields.js';
import type { Asn1Node } from '../asn1/reader.js';
import { integerOctets, octetStringValue, oidValue } from '../asn1/values.js';
import { type Attribute, type SignerInfo, singleAttribute } from '../cms/signer-info.js';
import { attempt, MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import { check, type TimestampCheck } from '../report.js';
import { hashStrength, type Strength, signatureStrengths } from '../strength.js';
import type { Certificate } from '../x509/certificate.js';
import { KEY_USAGE } from '../x509/extensions.js';
import { parseGeneralNames } from '../x509/general-names.js';
import { sameName } from '../x509/names.js';

/** ESSCertID or ESSCertIDv2 of the signer (RFC 5035 §4). */
export interface EssCertificateId {
  readonly hash: HashAlgorithm | undefined;
  readonly certificateHash: Uint8Array;
  readonly issuerSerial: { readonly issuer: Asn1Node; readonly serial: Uint8Array } | undefined;
}

/** The signed attributes that are read. */
export interface ReadAttributes {
  readonly contentType: string | undefined;
  readonly messageDigest: Uint8Array | undefined;
  /** The first identifier of each signing-certificate attribute present; v1 has SHA-1. */
  readonly ess: readonly EssCertificateId[];
}

/** @throws MalformedInput */
export function readSignedAttributes(attributes: readonly Attribute[]): ReadAttributes {
  const contentType = singleAttribute(attributes, OID.contentTypeAttribute, 'content-type');
  const messageDigest = singleAttribute(attributes, OID.messageDigestAttribute, 'message-digest');
  const v1 = singleAttribute(attributes, OID.signingCertificateAttribute, 'signing-certificate');
  const v2 = singleAttribute(attributes, OID.signingCertificateV2Attribute, 'signing-certificate-v2');
  return {
    contentType: contentType && oidValue(contentType, 'content-type'),
    messageDigest: messageDigest && octetStringValue(messageDigest, 'message-digest'),
    ess: [...(v1 ? [firstEssId(v1, 1)] : []), ...(v2 ? [firstEssId(v2, 2)] : [])],
  };
}

function firstEssId(node: Asn1Node, version: 1 | 2): EssCertificateId {
  const fields = new Fields(node, 'signing certificate');
  const [first] = listOf(fields.required(TAG.sequence, 'certs'), TAG.sequence, 'certs');
  fields.optional(TAG.sequence);
  fields.finish();
  if (first === undefined) throw new MalformedInput('missing-field', 'the signing certificate attribute is empty');
  const id = new Fields(first, 'ESSCertID');
  const algorithm = version === 2 ? id.optional(TAG.sequence) : undefined;
  const certificateHash = octetStringValue(id.required(TAG.octetString, 'certHash'), 'certHash');
  const issuerSerial = id.optional(TAG.sequence);
  id.finish();
  const defaultHash = version === 1 ? 'sha1' : 'sha256';
  return {
    hash: algorithm ? hashOf(parseAlgorithmIdentifier(algorithm, 'ESSCertIDv2'), 'ESSCertIDv2') : defaultHash,
    certificateHash,
    issuerSerial: issuerSerial && parseIssuerSerial(issuerSerial),
  };
}

function parseIssuerSerial(node: Asn1Node): { issuer: Asn1Node; serial: Uint8Array } {
  const fields = new Fields(node, 'issuerSerial');
  const issuer = fields.required(TAG.sequence, 'issuer');
  const serial = integerOctets(fields.required(TAG.integer, 'serialNumber'), 'serialNumber');
  fields.finish();
  return { issuer, serial };
}

/**
 * The certificate that a signer names, by what it names and never by position (RFC 5652 §5.3).
 * Where an injected certificate copies issuer and serial number, the hash in the signed attributes decides.
 */
export function findSignerCertificate(
  { sid }: SignerInfo,
  ess: readonly EssCertificateId[],
  candidates: readonly Certificate[],
): Certificate | undefined {
  const matching = candidates.filter((certificate) => {
    if (sid.kind === 'issuer-and-serial') {
      return equalBytes(sid.serial, certificate.serial) && sameName(sid.issuer, certificate.issuer);
    }
    const identifier = certificate.known.subjectKeyIdentifier;
    return identifier !== undefined && equalBytes(sid.keyIdentifier, identifier);
  });
  return (
    matching.find((certificate) => ess.length > 0 && ess.every((id) => essHashFits(id, certificate))) ?? matching[0]
  );
}

function essHashFits({ hash, certificateHash }: EssCertificateId, certificate: Certificate): boolean {
  return hash !== undefined && equalBytes(certificateHash, hashBytes(hash, certificate.der));
}

/**
 * The signature over the signed attributes as a SET OF (RFC 5652 §5.4): in the order in which they stand, since
 * authorities exist that sign them unsorted, then sorted as DER has it.
 */
export async function checkSignature(
  signer: SignerInfo,
  certificate: Certificate,
): Promise<{ check: TimestampCheck; strengths: Strength[] }> {
  const id = 'tst.signature';
  const made = (outcome: TimestampCheck['outcome'], message: string, strengths: Strength[] = []) => ({
    check: check(id, outcome, message),
    strengths,
  });
  if (signer.signedAttributes === undefined) return made('fail', 'the signed attributes are missing');
  const algorithms = attempt(() => {
    const digest = hashOf(signer.digestAlgorithm, 'digestAlgorithm');
    return { digest, scheme: signatureSchemeOf(signer.signatureAlgorithm, digest, 'signatureAlgorithm') };
  });
  if (algorithms instanceof MalformedInput) return made('fail', algorithms.message);
  const { digest, scheme } = algorithms;
  const { key } = certificate.publicKey;
  if (digest === undefined || scheme === undefined) {
    return made('indeterminate', `the signature algorithm ${signer.signatureAlgorithm.oid} is not known here`);
  }
  if (key === undefined) return made('indeterminate', 'the signer’s kind of key is not known here');
  if ('hash' in scheme && scheme.hash !== digest) {
    return made('fail', 'the signature’s hash differs from the digest algorithm (RFC 8933)');
  }
  if (certificate.publicKey.algorithm.oid === OID.rsaPss && scheme.kind !== 'rsa-pss') {
    return made('fail', 'the signer’s key is for RSA-PSS alone');
  }
  const strengths = [hashStrength(digest), ...signatureStrengths(scheme, key)];
  const raw = signer.signedAttributes.map((attribute) => attribute.raw);
  const orders = [
    { attributes: raw, label: '' },
    { attributes: [...raw].sort(compareOctets), label: ' (over the attributes in sorted order)' },
  ];
  for (const { attributes, label } of orders) {
    const outcome = await verifySignature(scheme, key, setOf(attributes), signer.signature);
    if (outcome === 'valid')
      return made('pass', `the authority’s signature is right, ${scheme.kind}${label}`, strengths);
    if (outcome === 'unsupported') return made('indeterminate', `${scheme.kind} is not supported here`);
  }
  return made('fail', 'the authority’s signature is wrong');
}

/** DER of a SET OF with these members. */
function setOf(members: readonly Uint8Array[]): Uint8Array {
  const content = concatBytes(...members);
  const length: number[] = [];
  for (let rest = content.length; rest > 0; rest = Math.floor(rest / 256)) length.unshift(rest % 256);
  const header = content.length < 0x80 ? [content.length] : [0x80 | length.length, ...length];
  return concatBytes(new Uint8Array([0x31, ...header]), content);
}

function compareOctets(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** RFC 5816 §2.2.1: the signed attributes name the signer's certificate by its hash, which no other can have. */
export function checkEss(ess: readonly EssCertificateId[], certificate: Certificate): TimestampCheck {
  if (ess.length === 0) return check('tst.ess', 'fail', 'the signed attributes do not name the signer’s certificate');
  for (const id of ess) {
    if (id.hash === undefined || id.hash === 'md5') {
      return check('tst.ess', 'indeterminate', 'the signer’s certificate is named by a hash that is unknown or broken');
    }
    if (!essHashFits(id, certificate)) {
      return check('tst.ess', 'fail', 'the signed attributes name another certificate than the signer’s');
    }
    if (id.issuerSerial !== undefined && !issuerSerialFits(id.issuerSerial, certificate)) {
      return check('tst.ess', 'fail', 'the signed attributes name another issuer or serial number than the signer’s');
    }
  }
  return check('tst.ess', 'pass', 'the signed attributes name the signer’s certificate by its hash');
}

function issuerSerialFits(
  { issuer, serial }: NonNullable<EssCertificateId['issuerSerial']>,
  certificate: Certificate,
): boolean {
  const names = attempt(() => parseGeneralNames(issuer));
  if (names instanceof MalformedInput) return false;
  const named = names.some((name) => name.kind === 'directory' && sameName(name.name, certificate.issuer));
  return named && equalBytes(serial, certificate.serial);
}

/** RFC 3161 §2.3: extended key usage critical, and timeStamping alone. */
export function checkEku({ known, extensions }: Certificate): TimestampCheck {
  const purposes = known.extendedKeyUsage;
  if (purposes === undefined) return check('tst.eku', 'fail', 'the signer’s certificate has no extended key usage');
  if (!purposes.includes(OID.ekuTimeStamping))
    return check('tst.eku', 'fail', 'the certificate is not for time-stamping');
  if (purposes.length > 1) return check('tst.eku', 'fail', 'the certificate is for other purposes as well');
  if (extensions.get(OID.extendedKeyUsage)?.critical !== true) {
    return check('tst.eku', 'fail', 'the extended key usage is not critical');
  }
  return check('tst.eku', 'pass', 'the certificate is for time-stamping alone');
}

/** The key is for signatures, and for nothing else. */
export function checkKeyUsage({ known }: Certificate): TimestampCheck {
  const usage = known.keyUsage;
  if (usage === undefined) return check('tst.key-usage', 'not-applicable', 'the certificate does not restrict its key');
  const signing: readonly number[] = [KEY_USAGE.digitalSignature, KEY_USAGE.nonRepudiation];
  if (!signing.some((bit) => usage.has(bit))) return check('tst.key-usage', 'fail', 'the key is not for signatures');
  return [...usage].every((bit) => signing.includes(bit))
    ? check('tst.key-usage', 'pass', 'the key is for signatures')
    : check('tst.key-usage', 'fail', 'the key is for other uses than signatures as well');
}

/** A CA could have made the certificate of anybody's token; it must not stamp itself. */
export function checkNotCa({ known, version }: Certificate): TimestampCheck {
  if (version < 3) return check('tst.not-ca', 'fail', 'the signer’s certificate is older than version 3');
  return known.basicConstraints?.ca === true
    ? check('tst.not-ca', 'fail', 'the signer is a certification authority')
    : check('tst.not-ca', 'pass', 'the signer is not a certification authority');
}
