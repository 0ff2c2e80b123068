import { createHash } from 'node:crypto';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import { HASH_BYTES, type HashAlgorithm, STAMP_HASHES } from '../../../schemas/crypto/algorithms.js';
import { hashOf, parseAlgorithmIdentifier } from '../../../schemas/rfc3161/algorithms.js';
import { context, Fields, TAG } from '../../../schemas/rfc3161/asn1/fields.js';
import { readSingle } from '../../../schemas/rfc3161/asn1/reader.js';
import {
  booleanValue,
  integerOctets,
  octetStringValue,
  oidValue,
  smallInteger,
} from '../../../schemas/rfc3161/asn1/values.js';
import { DEVELOPMENT_MARK } from '../../../schemas/rfc3161/development-mark.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { OID } from '../../../schemas/rfc3161/oids.js';
import { DEVELOPMENT_POLICY, randomSerialNumber } from './certificates.js';
import type { Identity } from './identity.js';

/** Bits of PKIFailureInfo (RFC 3161 §2.4.2). */
const FAILURE = {
  badAlg: 0,
  badRequest: 2,
  badDataFormat: 5,
  unacceptedPolicy: 15,
  unacceptedExtension: 16,
} as const;
type Failure = keyof typeof FAILURE;

/**
 * Responds to a time stamp request (RFC 3161 §2.4).
 *
 * @param request arbitrary bytes
 * @returns DER of a TimeStampResp: a token, or a refusal with the reason
 */
export async function answerRequest(request: Uint8Array, identity: Identity, now: Date): Promise<Uint8Array> {
  const parsed = attempt(() => parseTimestampRequest(request));
  if (parsed instanceof MalformedInput) return refusal('badDataFormat', `malformed request: ${parsed.message}`);
  const reason = objection(parsed);
  if (reason !== undefined) return refusal(reason.failure, reason.text);
  const token = await makeToken(parsed, identity, now);
  return encode(new asn1js.Sequence({ value: [status(0, DEVELOPMENT_MARK), token] }));
}

function objection(request: TimestampRequest): { failure: Failure; text: string } | undefined {
  const { version, hash, digest, policy, hasExtensions } = request;
  if (version !== 1) return { failure: 'badRequest', text: `unknown request version ${version}` };
  const known = STAMP_HASHES.find((one) => one === hash);
  if (known === undefined) return { failure: 'badAlg', text: `the digest must be by ${STAMP_HASHES.join(', ')}` };
  const length = HASH_BYTES[known];
  if (digest.length !== length) return { failure: 'badDataFormat', text: `the digest must have ${length} octets` };
  if (policy !== undefined && policy !== DEVELOPMENT_POLICY) {
    return { failure: 'unacceptedPolicy', text: `the only policy is ${DEVELOPMENT_POLICY}` };
  }
  return hasExtensions ? { failure: 'unacceptedExtension', text: 'no extension is supported' } : undefined;
}

function refusal(failure: Failure, text: string): Uint8Array {
  return encode(new asn1js.Sequence({ value: [status(2, text, FAILURE[failure])] }));
}

function status(value: number, text: string, failureBit?: number): asn1js.Sequence {
  const fields: asn1js.AsnType[] = [
    new asn1js.Integer({ value }),
    new asn1js.Sequence({ value: [new asn1js.Utf8String({ value: text })] }),
  ];
  if (failureBit !== undefined) {
    const octets = new Uint8Array(Math.floor(failureBit / 8) + 1);
    octets[octets.length - 1] = 0x80 >> (failureBit % 8);
    fields.push(new asn1js.BitString({ valueHex: octets, unusedBits: 7 - (failureBit % 8) }));
  }
  return new asn1js.Sequence({ value: fields });
}

async function makeToken(request: TimestampRequest, identity: Identity, now: Date): Promise<asn1js.Sequence> {
  const content = encode(tstInfo(request, identity, now));
  const signerInfo = new pkijs.SignerInfo({
    version: 1,
    sid: new pkijs.IssuerAndSerialNumber({ issuer: identity.tsa.issuer, serialNumber: identity.tsa.serialNumber }),
    signedAttrs: new pkijs.SignedAndUnsignedAttributes({ type: 0, attributes: signedAttributes(content, identity) }),
  });
  const signedData = new pkijs.SignedData({
    version: 3,
    encapContentInfo: new pkijs.EncapsulatedContentInfo({
      eContentType: OID.tstInfo,
      eContent: new asn1js.OctetString({ valueHex: content }),
    }),
    signerInfos: [signerInfo],
    ...(request.certificateRequested ? { certificates: [identity.tsa] } : {}),
  });
  await signedData.sign(identity.tsaKeys.privateKey, 0, 'SHA-256');
  return new pkijs.ContentInfo({ contentType: OID.signedData, content: signedData.toSchema(true) }).toSchema();
}

function tstInfo({ imprint, nonce }: TimestampRequest, { tsa }: Identity, now: Date): asn1js.Sequence {
  const name = new pkijs.GeneralName({ type: 4, value: tsa.subject }).toSchema();
  // Whole seconds with an accuracy of one second, so that a revocation list made after the time stamp never appears
  // older.
  const genTime = new Date(Math.floor(now.getTime() / 1000) * 1000);
  return new asn1js.Sequence({
    value: [
      new asn1js.Integer({ value: 1 }),
      new asn1js.ObjectIdentifier({ value: DEVELOPMENT_POLICY }),
      asn1js.fromBER(imprint).result,
      randomSerialNumber(),
      new asn1js.GeneralizedTime({ valueDate: genTime }),
      new asn1js.Sequence({ value: [new asn1js.Integer({ value: 1 })] }),
      ...(nonce === undefined ? [] : [new asn1js.Integer({ valueHex: nonce })]),
      new asn1js.Constructed({ idBlock: { tagClass: 3, tagNumber: 0 }, value: [name] }),
    ],
  });
}

/** The signed attributes (RFC 5652 §11, RFC 5816 §2.2.1), in the DER order of a SET OF. */
function signedAttributes(content: Uint8Array, { tsa }: Identity): pkijs.Attribute[] {
  const issuerSerial = new asn1js.Sequence({
    value: [
      new asn1js.Sequence({ value: [new pkijs.GeneralName({ type: 4, value: tsa.issuer }).toSchema()] }),
      tsa.serialNumber,
    ],
  });
  const essCertificateId = new asn1js.Sequence({
    value: [new asn1js.OctetString({ valueHex: sha256(encode(tsa.toSchema(true))) }), issuerSerial],
  });
  const signingCertificate = new asn1js.Sequence({ value: [new asn1js.Sequence({ value: [essCertificateId] })] });
  return [
    new pkijs.Attribute({
      type: OID.contentTypeAttribute,
      values: [new asn1js.ObjectIdentifier({ value: OID.tstInfo })],
    }),
    new pkijs.Attribute({
      type: OID.messageDigestAttribute,
      values: [new asn1js.OctetString({ valueHex: sha256(content) })],
    }),
    new pkijs.Attribute({ type: OID.signingCertificateV2Attribute, values: [signingCertificate] }),
  ].sort((a, b) => Buffer.compare(encode(a.toSchema()), encode(b.toSchema())));
}

function sha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash('sha256').update(bytes).digest());
}

function encode(value: { toBER(): ArrayBuffer }): Uint8Array {
  return new Uint8Array(value.toBER());
}

/** TimeStampReq (RFC 3161 §2.4.1). */
interface TimestampRequest {
  readonly version: number;
  /** DER of the MessageImprint, which the response repeats unchanged. */
  readonly imprint: Uint8Array;
  readonly hash: HashAlgorithm | undefined;
  readonly digest: Uint8Array;
  readonly policy: string | undefined;
  /** Content octets of the INTEGER. */
  readonly nonce: Uint8Array | undefined;
  readonly certificateRequested: boolean;
  readonly hasExtensions: boolean;
}

/**
 * Parses a request.
 * @param der exactly one TimeStampReq
 * @throws MalformedInput
 */
function parseTimestampRequest(der: Uint8Array): TimestampRequest {
  const fields = new Fields(readSingle(der), 'TimeStampReq');
  const version = smallInteger(fields.required(TAG.integer, 'version'), 'version');
  const imprintNode = fields.required(TAG.sequence, 'messageImprint');
  const imprint = new Fields(imprintNode, 'messageImprint');
  const algorithm = parseAlgorithmIdentifier(imprint.required(TAG.sequence, 'hashAlgorithm'), 'hashAlgorithm');
  const digest = octetStringValue(imprint.required(TAG.octetString, 'hashedMessage'), 'hashedMessage');
  imprint.finish();
  const policy = fields.optional(TAG.oid);
  const nonce = fields.optional(TAG.integer);
  const certificate = fields.optional(TAG.boolean);
  const extensions = fields.optional(context(0));
  fields.finish();
  return {
    version,
    imprint: imprintNode.raw,
    hash: hashOf(algorithm, 'hashAlgorithm'),
    digest,
    policy: policy && oidValue(policy, 'reqPolicy'),
    nonce: nonce && integerOctets(nonce, 'nonce'),
    certificateRequested: certificate !== undefined && booleanValue(certificate, 'certReq'),
    hasExtensions: extensions !== undefined,
  };
}
