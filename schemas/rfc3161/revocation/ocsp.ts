import type { HashAlgorithm } from '../../crypto/algorithms.js';
import { type AlgorithmIdentifier, hashOf, parseAlgorithmIdentifier } from '../algorithms.js';
import { context, explicit, Fields, hasTag, listOf, TAG } from '../asn1/fields.js';
import { type Asn1Node, readSingle } from '../asn1/reader.js';
import { preciseGeneralizedTime } from '../asn1/times.js';
import { enumerated, integerOctets, octetStringValue, oidValue, smallInteger, wholeOctets } from '../asn1/values.js';
import { MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import { type Extensions, parseExtensions } from '../x509/extensions.js';
import { type Name, parseName } from '../x509/names.js';

/** A successful OCSPResponse of the basic type (RFC 6960 §4.2.1). */
export interface OcspResponse {
  readonly tbs: Uint8Array;
  readonly signatureAlgorithm: AlgorithmIdentifier;
  readonly signature: Uint8Array;
  readonly responder: { readonly name: Name } | { readonly keyHash: Uint8Array };
  readonly producedAt: Date;
  readonly answers: readonly OcspAnswer[];
  readonly extensions: Extensions;
  /** DER of the certificates enclosed, unparsed. */
  readonly certificates: readonly Uint8Array[];
}

/** SingleResponse (RFC 6960 §4.2.1). */
export interface OcspAnswer {
  readonly hash: HashAlgorithm | undefined;
  readonly issuerNameHash: Uint8Array;
  readonly issuerKeyHash: Uint8Array;
  readonly serial: Uint8Array;
  readonly status:
    | { readonly kind: 'good' | 'unknown' }
    | { readonly kind: 'revoked'; readonly revokedAt: Date; readonly reason: number | undefined };
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | undefined;
  readonly extensions: Extensions;
  /** The responder keeps answers about certificates that expired since then (RFC 6960 §4.4.4). */
  readonly archiveCutoff: Date | undefined;
}

const MAX_OCSP_BYTES = 256 * 1024;

/**
 * @param der exactly one OCSPResponse with status successful, at most 256 KiB.
 * @throws MalformedInput
 */
export function parseOcspResponse(der: Uint8Array): OcspResponse {
  if (der.length > MAX_OCSP_BYTES) throw new MalformedInput('too-large', 'the OCSP response is larger than 256 KiB');
  const outer = new Fields(readSingle(der), 'OCSPResponse');
  const status = enumerated(outer.required(TAG.enumerated, 'responseStatus'), 'responseStatus');
  if (status !== 0) throw new MalformedInput('bad-value', `the OCSP responder returned an error (status ${status})`);
  const bytesNode = outer.required(context(0), 'responseBytes');
  outer.finish();
  const responseBytes = new Fields(explicit(bytesNode, 'responseBytes'), 'responseBytes');
  const type = oidValue(responseBytes.required(TAG.oid, 'responseType'), 'responseType');
  if (type !== OID.ocspBasicResponse) throw new MalformedInput('bad-value', 'the OCSP response is of an unknown type');
  const basic = octetStringValue(responseBytes.required(TAG.octetString, 'response'), 'response');
  responseBytes.finish();
  return parseBasicResponse(basic);
}

function parseBasicResponse(bytes: Uint8Array): OcspResponse {
  const outer = new Fields(readSingle(bytes), 'BasicOCSPResponse');
  const tbsNode = outer.required(TAG.sequence, 'tbsResponseData');
  const signatureAlgorithm = parseAlgorithmIdentifier(outer.required(TAG.sequence, 'signatureAlgorithm'), 'signature');
  const signature = wholeOctets(outer.required(TAG.bitString, 'signature'), 'signature');
  const certificatesNode = outer.optional(context(0));
  outer.finish();

  const fields = new Fields(tbsNode, 'tbsResponseData');
  const version = fields.optional(context(0));
  if (version !== undefined && smallInteger(explicit(version, 'version'), 'version') !== 0) {
    throw new MalformedInput('bad-value', 'the OCSP response has an unknown version');
  }
  const responder = parseResponder(fields.requiredAny('responderID'));
  const producedAt = preciseGeneralizedTime(fields.requiredAny('producedAt'), 'producedAt').date;
  const answers = listOf(fields.required(TAG.sequence, 'responses'), TAG.sequence, 'responses').map(parseAnswer);
  const extensionsNode = fields.optional(context(1));
  fields.finish();
  const certificates = certificatesNode && listOf(explicit(certificatesNode, 'certs'), TAG.sequence, 'certs');
  if (certificates !== undefined && certificates.length > 16) {
    throw new MalformedInput('too-many', 'the OCSP response has too many certificates');
  }
  return {
    tbs: tbsNode.raw,
    signatureAlgorithm,
    signature,
    responder,
    producedAt,
    answers,
    extensions: extensionsNode ? parseExtensions(explicit(extensionsNode, 'responseExtensions')) : new Map(),
    certificates: certificates?.map(({ raw }) => raw) ?? [],
  };
}

function parseResponder(node: Asn1Node): OcspResponse['responder'] {
  if (hasTag(node, context(1))) return { name: parseName(explicit(node, 'responderID'), 'responderID') };
  if (hasTag(node, context(2))) return { keyHash: octetStringValue(explicit(node, 'responderID'), 'responderID') };
  throw new MalformedInput('bad-tag', 'responderID has the wrong type');
}

function parseAnswer(node: Asn1Node): OcspAnswer {
  const fields = new Fields(node, 'singleResponse');
  const id = new Fields(fields.required(TAG.sequence, 'certID'), 'certID');
  const hashAlgorithm = parseAlgorithmIdentifier(id.required(TAG.sequence, 'hashAlgorithm'), 'certID.hashAlgorithm');
  const issuerNameHash = octetStringValue(id.required(TAG.octetString, 'issuerNameHash'), 'issuerNameHash');
  const issuerKeyHash = octetStringValue(id.required(TAG.octetString, 'issuerKeyHash'), 'issuerKeyHash');
  const serial = integerOctets(id.required(TAG.integer, 'serialNumber'), 'serialNumber');
  id.finish();
  const status = parseCertStatus(fields.requiredAny('certStatus'));
  const thisUpdate = preciseGeneralizedTime(fields.requiredAny('thisUpdate'), 'thisUpdate').date;
  const nextUpdate = fields.optional(context(0));
  const extensionsNode = fields.optional(context(1));
  fields.finish();
  const extensions: Extensions = extensionsNode
    ? parseExtensions(explicit(extensionsNode, 'singleExtensions'))
    : new Map();
  const cutoff = extensions.get(OID.ocspArchiveCutoff);
  return {
    hash: hashOf(hashAlgorithm, 'certID.hashAlgorithm'),
    issuerNameHash,
    issuerKeyHash,
    serial,
    status,
    thisUpdate,
    nextUpdate: nextUpdate && preciseGeneralizedTime(explicit(nextUpdate, 'nextUpdate'), 'nextUpdate').date,
    extensions,
    archiveCutoff: cutoff && preciseGeneralizedTime(readSingle(cutoff.value), 'archiveCutoff').date,
  };
}

function parseCertStatus(node: Asn1Node): OcspAnswer['status'] {
  if (hasTag(node, context(0, false))) return { kind: 'good' };
  if (hasTag(node, context(2, false))) return { kind: 'unknown' };
  if (!hasTag(node, context(1))) throw new MalformedInput('bad-tag', 'certStatus has the wrong type');
  const fields = new Fields(node, 'revokedInfo', context(1));
  const revokedAt = preciseGeneralizedTime(
    fields.required(TAG.generalizedTime, 'revocationTime'),
    'revocationTime',
  ).date;
  const reason = fields.optional(context(0));
  fields.finish();
  return {
    kind: 'revoked',
    revokedAt,
    reason: reason && enumerated(explicit(reason, 'revocationReason'), 'revocationReason'),
  };
}
