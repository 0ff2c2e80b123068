import { type AlgorithmIdentifier, parseAlgorithmIdentifier } from '../algorithms.js';
import { context, Fields, hasTag, listOf, TAG } from '../asn1/fields.js';
import { type Asn1Node, childrenOf } from '../asn1/reader.js';
import { integerOctets, octetStringValue, oidValue, smallInteger } from '../asn1/values.js';
import { MalformedInput } from '../errors.js';
import { type Name, parseName } from '../x509/names.js';

/** The certificate that a signer names as its own (RFC 5652 §5.3). */
export type SignerIdentifier =
  | { readonly kind: 'issuer-and-serial'; readonly issuer: Name; readonly serial: Uint8Array }
  | { readonly kind: 'subject-key-identifier'; readonly keyIdentifier: Uint8Array };

/** A signed attribute with its values (RFC 5652 §5.3). */
export interface Attribute {
  readonly oid: string;
  readonly values: readonly Asn1Node[];
  readonly raw: Uint8Array;
}

/** SignerInfo (RFC 5652 §5.3). */
export interface SignerInfo {
  readonly version: number;
  readonly sid: SignerIdentifier;
  readonly digestAlgorithm: AlgorithmIdentifier;
  /** Undefined if the field is absent. The signature is then over the content itself. */
  readonly signedAttributes: readonly Attribute[] | undefined;
  readonly signatureAlgorithm: AlgorithmIdentifier;
  readonly signature: Uint8Array;
}

/** @throws MalformedInput */
export function parseSignerInfo(node: Asn1Node): SignerInfo {
  const fields = new Fields(node, 'SignerInfo');
  const version = smallInteger(fields.required(TAG.integer, 'version'), 'version');
  const sid = parseSignerIdentifier(fields.requiredAny('sid'));
  const digestAlgorithm = parseAlgorithmIdentifier(fields.required(TAG.sequence, 'digestAlgorithm'), 'digestAlgorithm');
  const attributesNode = fields.optional(context(0));
  const signatureAlgorithm = parseAlgorithmIdentifier(
    fields.required(TAG.sequence, 'signatureAlgorithm'),
    'signatureAlgorithm',
  );
  const signature = octetStringValue(fields.required(TAG.octetString, 'signature'), 'signature');
  fields.optional(context(1));
  fields.finish();
  return {
    version,
    sid,
    digestAlgorithm,
    signedAttributes: attributesNode && childrenOf(attributesNode).map(parseAttribute),
    signatureAlgorithm,
    signature,
  };
}

function parseSignerIdentifier(node: Asn1Node): SignerIdentifier {
  if (hasTag(node, context(0, false))) return { kind: 'subject-key-identifier', keyIdentifier: node.content };
  const fields = new Fields(node, 'issuerAndSerialNumber');
  const issuer = parseName(fields.required(TAG.sequence, 'issuer'), 'issuer');
  const serial = integerOctets(fields.required(TAG.integer, 'serialNumber'), 'serialNumber');
  fields.finish();
  return { kind: 'issuer-and-serial', issuer, serial };
}

function parseAttribute(node: Asn1Node): Attribute {
  const fields = new Fields(node, 'attribute');
  const oid = oidValue(fields.required(TAG.oid, 'attrType'), 'attrType');
  const values = listOf(fields.required(TAG.set, 'attrValues'), TAG.set, 'attrValues');
  fields.finish();
  return { oid, values, raw: node.raw };
}

/**
 * The value of an attribute that must occur once, with one value (RFC 5652 §11).
 * @returns undefined if the attribute is absent
 * @throws MalformedInput if the attribute occurs more than once, or does not have exactly one value
 */
export function singleAttribute(attributes: readonly Attribute[], oid: string, what: string): Asn1Node | undefined {
  const [attribute, ...others] = attributes.filter((candidate) => candidate.oid === oid);
  if (attribute === undefined) return undefined;
  const [value, ...moreValues] = attribute.values;
  if (others.length > 0 || value === undefined || moreValues.length > 0) {
    throw new MalformedInput('contradiction', `the ${what} attribute must occur once, with one value`);
  }
  return value;
}
