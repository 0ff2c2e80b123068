import type { HashAlgorithm } from '../../../schemas/crypto/algorithms.js';
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

/** TimeStampReq (RFC 3161 §2.4.1). */
export interface TimestampRequest {
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
export function parseTimestampRequest(der: Uint8Array): TimestampRequest {
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
