import { Fields, hasTag, TAG } from '../asn1/fields.js';
import { childrenOf, readSingle } from '../asn1/reader.js';
import { MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import { parseContentInfo, type SignedData } from './signed-data.js';
import { parseStatus, type ResponseStatus } from './status.js';
import { parseTstInfo, type TstInfo } from './tst-info.js';

/** A TimeStampResp or a bare TimeStampToken, taken apart. */
export interface ParsedTimestamp {
  /** Undefined for a bare token. */
  readonly status: ResponseStatus | undefined;
  /** The token's bytes as received, or undefined for a refusal. */
  readonly token: Uint8Array | undefined;
  /** Content type of the ContentInfo, or undefined for a refusal. */
  readonly contentType: string | undefined;
  readonly signedData: SignedData | undefined;
  /** Undefined if the content is not a TSTInfo. */
  readonly tstInfo: TstInfo | undefined;
}

const MAX_TOKEN_BYTES = 1024 * 1024;

/**
 * Parses the bytes of a `.tsr` file: a TimeStampResp (RFC 3161 §2.4.2) or a bare token, DER or BER,
 * and nothing after it.
 * @param bytes the bytes, at most 1 MiB
 * @throws MalformedInput
 */
export function parseTimestamp(bytes: Uint8Array): ParsedTimestamp {
  if (bytes.length > MAX_TOKEN_BYTES) throw new MalformedInput('too-large', 'the token is larger than 1 MiB');
  const outer = readSingle(bytes);
  const [first] = hasTag(outer, TAG.sequence) ? childrenOf(outer) : [];
  if (first === undefined) throw new MalformedInput('bad-tag', 'neither a time stamp response nor a token');
  if (hasTag(first, TAG.oid)) return { status: undefined, ...parseToken(bytes) };
  const fields = new Fields(outer, 'TimeStampResp');
  const status = parseStatus(fields.required(TAG.sequence, 'status'));
  const tokenNode = fields.optional(TAG.sequence);
  fields.finish();
  if (tokenNode !== undefined) return { status, ...parseToken(tokenNode.raw) };
  return { status, token: undefined, contentType: undefined, signedData: undefined, tstInfo: undefined };
}

function parseToken(token: Uint8Array): Omit<ParsedTimestamp, 'status'> {
  const { contentType, signedData } = parseContentInfo(readSingle(token));
  const isTstInfo = signedData?.contentType === OID.tstInfo;
  return { token, contentType, signedData, tstInfo: isTstInfo ? parseTstInfo(signedData.content) : undefined };
}
