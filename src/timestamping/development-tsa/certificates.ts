import { randomBytes } from 'node:crypto';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import { DEVELOPMENT_MARK } from '../../../schemas/rfc3161/development-mark.js';
import { OID } from '../../../schemas/rfc3161/oids.js';

/**
 * Policy of the development authority's tokens: the OID of the UUID
 * ba6bc041-b0d3-540e-b2eb-81648bbef8ea (ITU-T X.667), an arc that needs no registration. The policy
 * promises nothing.
 */
export const DEVELOPMENT_POLICY = '2.25.247795882407056885490691155332649908458';

/** A key pair of the development authority; signatures are ECDSA with P-256 and SHA-256. */
export type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const DAY_MS = 24 * 60 * 60 * 1000;
const ROOT_DAYS = 20 * 365;
const TSA_DAYS = 5 * 365;
/** Certificates are backdated because the clock of a verifier may be slow. */
const BACKDATING_MS = 5 * 60 * 1000;

/** Generates an extractable P-256 key pair. */
export async function generateKeyPair() {
  return crypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
}

/**
 * Issues the self-signed root certificate.
 * @param organization attribute O of its name, which distinguishes authorities, or null if there is none
 */
export async function issueRoot(keys: KeyPair, now: Date, organization: string | null): Promise<pkijs.Certificate> {
  const certificate = await unsigned('Root', keys, now, ROOT_DAYS);
  if (organization !== null) certificate.subject.typesAndValues.unshift(attribute('2.5.4.10', organization));
  certificate.issuer = certificate.subject;
  certificate.extensions = [
    extension(OID.basicConstraints, true, new pkijs.BasicConstraints({ cA: true, pathLenConstraint: 0 }).toSchema()),
    extension(OID.keyUsage, true, keyUsage(0b0000_0110, 1)),
    extension(OID.subjectKeyIdentifier, false, new asn1js.OctetString({ valueHex: await keyIdentifier(keys) })),
  ];
  await certificate.sign(keys.privateKey, 'SHA-256');
  return certificate;
}

/** Issues the authority's certificate under the root. @param crlUrl URL of its revocation list */
export async function issueTsaCertificate(
  keys: KeyPair,
  root: pkijs.Certificate,
  rootKeys: KeyPair,
  crlUrl: string,
  now: Date,
): Promise<pkijs.Certificate> {
  const certificate = await unsigned('TSA', keys, now, TSA_DAYS);
  certificate.issuer = root.subject;
  certificate.extensions = [
    extension(OID.extendedKeyUsage, true, new pkijs.ExtKeyUsage({ keyPurposes: [OID.ekuTimeStamping] }).toSchema()),
    extension(OID.keyUsage, true, keyUsage(0b1000_0000, 7)),
    extension(OID.basicConstraints, true, new pkijs.BasicConstraints({ cA: false }).toSchema()),
    extension(OID.subjectKeyIdentifier, false, new asn1js.OctetString({ valueHex: await keyIdentifier(keys) })),
    extension(OID.authorityKeyIdentifier, false, await authorityKeyIdentifier(rootKeys)),
    extension(OID.crlDistributionPoints, false, crlDistributionPoints(crlUrl)),
  ];
  await certificate.sign(rootKeys.privateKey, 'SHA-256');
  return certificate;
}

/**
 * Issues an empty revocation list of the root: a development authority never revokes a certificate.
 */
export async function issueCrl(root: pkijs.Certificate, rootKeys: KeyPair, now: Date): Promise<Uint8Array> {
  const crl = new pkijs.CertificateRevocationList({ version: 1 });
  crl.issuer = root.subject;
  crl.thisUpdate = time(now);
  crl.nextUpdate = time(new Date(now.getTime() + DAY_MS));
  crl.crlExtensions = new pkijs.Extensions({
    extensions: [
      extension(OID.authorityKeyIdentifier, false, await authorityKeyIdentifier(rootKeys)),
      extension(OID.crlNumber, false, asn1js.Integer.fromBigInt(BigInt(now.getTime()))),
    ],
  });
  await crl.sign(rootKeys.privateKey, 'SHA-256');
  return new Uint8Array(crl.toSchema(true).toBER());
}

/** Returns a positive random number of 127 bits, so that serial numbers are unique even across restarts. */
export function randomSerialNumber(): asn1js.Integer {
  const octets = new Uint8Array(randomBytes(16));
  octets[0] = ((octets[0] ?? 0) & 0x7f) | 0x40;
  return new asn1js.Integer({ valueHex: octets });
}

async function unsigned(role: string, keys: KeyPair, now: Date, days: number): Promise<pkijs.Certificate> {
  const certificate = new pkijs.Certificate({ version: 2, serialNumber: randomSerialNumber() });
  certificate.subject.typesAndValues.push(attribute('2.5.4.3', `Consent Ledger ${role}: ${DEVELOPMENT_MARK}`));
  certificate.notBefore = time(new Date(now.getTime() - BACKDATING_MS));
  certificate.notAfter = time(new Date(now.getTime() + days * DAY_MS));
  await certificate.subjectPublicKeyInfo.importKey(keys.publicKey);
  return certificate;
}

/** @param value the value, at most 64 characters (RFC 5280 appendix A.1) */
function attribute(type: string, value: string): pkijs.AttributeTypeAndValue {
  return new pkijs.AttributeTypeAndValue({ type, value: new asn1js.Utf8String({ value }) });
}

/** RFC 5280 §4.1.2.5: UTCTime until 2049, GeneralizedTime from 2050. */
function time(value: Date): pkijs.Time {
  return new pkijs.Time({ type: value.getUTCFullYear() < 2050 ? 0 : 1, value });
}

function extension(extnID: string, critical: boolean, value: asn1js.AsnType): pkijs.Extension {
  return new pkijs.Extension({ extnID, critical, extnValue: value.toBER() });
}

function keyUsage(bits: number, unusedBits: number): asn1js.BitString {
  return new asn1js.BitString({ valueHex: new Uint8Array([bits]), unusedBits });
}

async function keyIdentifier(keys: KeyPair): Promise<ArrayBuffer> {
  return crypto.subtle.digest('SHA-1', await crypto.subtle.exportKey('raw', keys.publicKey));
}

async function authorityKeyIdentifier(keys: KeyPair): Promise<asn1js.Sequence> {
  const identifier = new asn1js.Primitive({
    idBlock: { tagClass: 3, tagNumber: 0 },
    valueHex: await keyIdentifier(keys),
  });
  return new asn1js.Sequence({ value: [identifier] });
}

function crlDistributionPoints(url: string): asn1js.Sequence {
  const uri = new asn1js.Primitive({ idBlock: { tagClass: 3, tagNumber: 6 }, valueHex: new TextEncoder().encode(url) });
  const wrap = (value: asn1js.AsnType) =>
    new asn1js.Constructed({ idBlock: { tagClass: 3, tagNumber: 0 }, value: [value] });
  return new asn1js.Sequence({ value: [new asn1js.Sequence({ value: [wrap(wrap(uri))] })] });
}
