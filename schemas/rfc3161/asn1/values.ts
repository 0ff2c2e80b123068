import { MalformedInput } from '../errors.js';
import { expectTag, TAG } from './fields.js';
import { type Asn1Node, childrenOf } from './reader.js';

const MAX_INTEGER_OCTETS = 64;
const MAX_OID_OCTETS = 64;

/**
 * The content octets of an INTEGER in two's complement: non-empty, minimal, at most 64 octets.
 * @throws MalformedInput
 */
export function integerOctets(node: Asn1Node, what: string): Uint8Array {
  const { content } = expectTag(node, TAG.integer, what);
  if (content.length === 0 || content.length > MAX_INTEGER_OCTETS) {
    throw new MalformedInput('bad-value', `${what} has ${content.length} octets`);
  }
  const [first = 0, second = 0] = content;
  if (content.length > 1 && ((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80))) {
    throw new MalformedInput('bad-value', `${what} is not minimally encoded`);
  }
  return content;
}

/** A non-negative INTEGER below 2^31. @throws MalformedInput */
export function smallInteger(node: Asn1Node, what: string): number {
  return unsigned(integerOctets(node, what), what);
}

/** The same for an ENUMERATED. @throws MalformedInput */
export function enumerated(node: Asn1Node, what: string): number {
  return unsigned(expectTag(node, TAG.enumerated, what).content, what);
}

/**
 * The same for an INTEGER under an IMPLICIT tag that the caller has checked.
 * @throws MalformedInput
 */
export function implicitSmallInteger(node: Asn1Node, what: string): number {
  return unsigned(node.content, what);
}

function unsigned(content: Uint8Array, what: string): number {
  const [first] = content;
  if (first === undefined || first >= 0x80 || content.length > 4) {
    throw new MalformedInput('bad-value', `${what} is out of range`);
  }
  return content.reduce((value, octet) => value * 256 + octet, 0);
}

/** @throws MalformedInput */
export function booleanValue(node: Asn1Node, what: string): boolean {
  const { content } = expectTag(node, TAG.boolean, what);
  if (content.length !== 1) throw new MalformedInput('bad-value', `${what} is not a BOOLEAN`);
  return content[0] !== 0;
}

/** An OBJECT IDENTIFIER in dotted form. @throws MalformedInput */
export function oidValue(node: Asn1Node, what: string): string {
  return oidFromContent(expectTag(node, TAG.oid, what).content, what);
}

function oidFromContent(content: Uint8Array, what: string): string {
  if (content.length > MAX_OID_OCTETS) throw new MalformedInput('bad-value', `${what} is too long`);
  const arcs: bigint[] = [];
  let arc = 0n;
  let open = false;
  for (const octet of content) {
    if (!open && octet === 0x80) throw new MalformedInput('bad-value', `${what}: an arc is not minimally encoded`);
    arc = arc * 128n + BigInt(octet & 0x7f);
    open = octet >= 0x80;
    if (!open) {
      arcs.push(arc);
      arc = 0n;
    }
  }
  const [first, ...rest] = arcs;
  if (first === undefined || open) throw new MalformedInput('bad-value', `${what} is not an object identifier`);
  const root = first < 80n ? first / 40n : 2n;
  return [root, first - root * 40n, ...rest].join('.');
}

/**
 * The octets of an OCTET STRING; the segments of BER's constructed form are joined.
 * @throws MalformedInput
 */
export function octetStringValue(node: Asn1Node, what: string): Uint8Array {
  expectTag(node, TAG.octetString, what);
  if (!node.constructed) return node.content;
  const segments = childrenOf(node).map((segment) => {
    expectTag(segment, { ...TAG.octetString, constructed: false }, `${what} segment`);
    return segment.content;
  });
  const joined = new Uint8Array(segments.reduce((sum, segment) => sum + segment.length, 0));
  let offset = 0;
  for (const segment of segments) {
    joined.set(segment, offset);
    offset += segment.length;
  }
  return joined;
}

/**
 * A BIT STRING as bytes, with the number of unused bits in the last of them.
 * @throws MalformedInput
 */
export function bitStringValue(node: Asn1Node, what: string): { bytes: Uint8Array; unusedBits: number } {
  return bitStringContent(expectTag(node, TAG.bitString, what).content, what);
}

/**
 * The same for a BIT STRING under an IMPLICIT tag that the caller has checked.
 * @throws MalformedInput
 */
export function bitStringContent(content: Uint8Array, what: string): { bytes: Uint8Array; unusedBits: number } {
  const [unusedBits] = content;
  if (unusedBits === undefined || unusedBits > 7 || (content.length === 1 && unusedBits > 0)) {
    throw new MalformedInput('bad-value', `${what} is not a BIT STRING`);
  }
  return { bytes: content.subarray(1), unusedBits };
}

/** A BIT STRING of whole octets (signatures, keys). @throws MalformedInput */
export function wholeOctets(node: Asn1Node, what: string): Uint8Array {
  const { bytes, unusedBits } = bitStringValue(node, what);
  if (unusedBits !== 0) throw new MalformedInput('bad-value', `${what} is not made of whole octets`);
  return bytes;
}

/**
 * A BIT STRING of named bits, as the set of the numbers of the bits that are set.
 * @throws MalformedInput
 */
export function namedBits(content: Uint8Array, what: string): ReadonlySet<number> {
  const { bytes } = bitStringContent(content, what);
  if (bytes.length > 8) throw new MalformedInput('bad-value', `${what} has too many bits`);
  const bits = new Set<number>();
  bytes.forEach((octet, index) => {
    for (let bit = 0; bit < 8; bit++) if (octet & (0x80 >> bit)) bits.add(index * 8 + bit);
  });
  return bits;
}
