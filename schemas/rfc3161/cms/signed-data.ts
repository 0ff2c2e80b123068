import { type AlgorithmIdentifier, parseAlgorithmIdentifier } from '../algorithms.js';
import { context, explicit, Fields, hasTag, listOf, TAG } from '../asn1/fields.js';
import { type Asn1Node, childrenOf } from '../asn1/reader.js';
import { octetStringValue, oidValue, smallInteger } from '../asn1/values.js';
import { MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import { parseSignerInfo, type SignerInfo } from './signer-info.js';

/** SignedData (RFC 5652 §5.1) of a time stamp token. */
export interface SignedData {
  readonly version: number;
  readonly digestAlgorithms: readonly AlgorithmIdentifier[];
  readonly contentType: string;
  /** The octets inside eContent: what messageDigest is over. */
  readonly content: Uint8Array;
  /** DER of each certificate in the bag, unparsed: nothing vouches for them. */
  readonly certificates: readonly Uint8Array[];
  readonly crls: readonly Uint8Array[];
  readonly ocspResponses: readonly Uint8Array[];
  readonly signerInfos: readonly SignerInfo[];
}

const MAX_BAG = 64;

/** A ContentInfo's type, and its SignedData if that is what it holds. @throws MalformedInput */
export function parseContentInfo(node: Asn1Node): { contentType: string; signedData: SignedData | undefined } {
  const fields = new Fields(node, 'ContentInfo');
  const contentType = oidValue(fields.required(TAG.oid, 'contentType'), 'contentType');
  const content = fields.required(context(0), 'content');
  fields.finish();
  const isSignedData = contentType === OID.signedData;
  return { contentType, signedData: isSignedData ? parseSignedData(explicit(content, 'content')) : undefined };
}

function parseSignedData(node: Asn1Node): SignedData {
  const fields = new Fields(node, 'SignedData');
  const version = smallInteger(fields.required(TAG.integer, 'version'), 'version');
  const digestNodes = listOf(fields.required(TAG.set, 'digestAlgorithms'), TAG.set, 'digestAlgorithms');
  const encapsulated = new Fields(fields.required(TAG.sequence, 'encapContentInfo'), 'encapContentInfo');
  const contentType = oidValue(encapsulated.required(TAG.oid, 'eContentType'), 'eContentType');
  const contentNode = encapsulated.required(context(0), 'eContent');
  encapsulated.finish();
  const certificatesNode = fields.optional(context(0));
  const crlsNode = fields.optional(context(1));
  const signerNodes = listOf(fields.required(TAG.set, 'signerInfos'), TAG.set, 'signerInfos');
  fields.finish();
  if (signerNodes.length > MAX_BAG) throw new MalformedInput('too-many', 'the token has too many signers');
  const revocationInfo = crlsNode === undefined ? [] : bag(crlsNode, 'crls');
  return {
    version,
    digestAlgorithms: digestNodes.map((digest) => parseAlgorithmIdentifier(digest, 'digestAlgorithm')),
    contentType,
    content: octetStringValue(explicit(contentNode, 'eContent'), 'eContent'),
    // Attribute certificates and other forms carry other tags and are not used in time stamping.
    certificates: (certificatesNode === undefined ? [] : bag(certificatesNode, 'certificates'))
      .filter((certificate) => hasTag(certificate, TAG.sequence))
      .map(({ raw }) => raw),
    crls: revocationInfo.filter((crl) => hasTag(crl, TAG.sequence)).map(({ raw }) => raw),
    ocspResponses: revocationInfo.filter((info) => hasTag(info, context(1))).flatMap(otherRevocationInfo),
    signerInfos: signerNodes.map(parseSignerInfo),
  };
}

function bag(node: Asn1Node, what: string): Asn1Node[] {
  const members = childrenOf(node);
  if (members.length > MAX_BAG) throw new MalformedInput('too-many', `the token has too many ${what}`);
  return members;
}

/** OtherRevocationInfoFormat that holds an OCSPResponse (RFC 5940 §2.1). */
function otherRevocationInfo(node: Asn1Node): Uint8Array[] {
  const [format, info] = childrenOf(node);
  if (format === undefined || info === undefined || !hasTag(format, TAG.oid)) return [];
  return oidValue(format, 'otherRevInfoFormat') === OID.ocspResponseRevocationInfo ? [info.raw] : [];
}
