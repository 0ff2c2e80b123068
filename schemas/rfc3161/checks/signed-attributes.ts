import type { HashAlgorithm } from '../../crypto/algorithms.js';
import { equalBytes } from '../../crypto/encoding.js';
import { hashBytes } from '../../crypto/signature-verification.js';
import { hashOf, parseAlgorithmIdentifier } from '../algorithms.js';
import { Fields, listOf, TAG } from '../asn1/fields.js';
import type { Asn1Node } from '../asn1/reader.js';
import { integerOctets, octetStringValue, oidValue } from '../asn1/values.js';
import { type Attribute, type SignerInfo, singleAttribute } from '../cms/signer-info.js';
import { attempt, MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import { check, type TimestampCheck } from '../report.js';

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

/** RFC 5652 §5.3, §11.1, §11.2: the signed attributes must identify the signed content. */
export function checkSignedAttributes(
  { signedAttributes, digestAlgorithm }: SignerInfo,
  attributes: ReadAttributes | MalformedInput,
  content: Uint8Array,
): TimestampCheck {
  const id = 'tst.signed-attributes';
  if (signedAttributes === undefined) return check(id, 'fail', 'the signed attributes are missing');
  if (attributes instanceof MalformedInput) return check(id, 'fail', attributes.message);
  if (attributes.contentType !== OID.tstInfo) return check(id, 'fail', 'the content-type attribute is not TSTInfo');
  if (attributes.messageDigest === undefined) return check(id, 'fail', 'the message-digest attribute is missing');
  const hash = attempt(() => hashOf(digestAlgorithm, 'digestAlgorithm'));
  if (hash instanceof MalformedInput) return check(id, 'fail', hash.message);
  if (hash === undefined) return check(id, 'indeterminate', `unknown digest algorithm ${digestAlgorithm.oid}`);
  return equalBytes(attributes.messageDigest, hashBytes(hash, content))
    ? check(id, 'pass', 'content type and digest match the content')
    : check(id, 'fail', 'the message digest does not match the content');
}
