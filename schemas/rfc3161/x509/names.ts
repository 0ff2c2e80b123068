import { toHex } from '../../crypto/encoding.js';
import { expectTag, listOf, TAG } from '../asn1/fields.js';
import { type Asn1Node, childrenOf } from '../asn1/reader.js';
import { oidValue } from '../asn1/values.js';
import { MalformedInput } from '../errors.js';

/** A distinguished name (RFC 5280 §4.1.2.4). */
export interface Name {
  readonly raw: Uint8Array;
  /** The name as readable text, safe to print: control, format and separator characters are escaped. */
  readonly text: string;
  /** Its relative names, each as a form that is equal for names that RFC 5280 §7.1 calls equal. */
  readonly relativeNames: readonly string[];
  /**
   * The organization that it names: its attributes O (2.5.4.10), or the whole name if it has none.
   * Equal for names that RFC 5280 §7.1 calls equal, and safe to print.
   */
  readonly organization: string;
  /** Values of its attributes emailAddress. A value that is not a string has no @. */
  readonly mailboxes: readonly string[];
}

const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ['2.5.4.3', 'CN'],
  ['2.5.4.5', 'serialNumber'],
  ['2.5.4.6', 'C'],
  ['2.5.4.7', 'L'],
  ['2.5.4.8', 'ST'],
  ['2.5.4.10', 'O'],
  ['2.5.4.11', 'OU'],
  ['2.5.4.97', 'organizationIdentifier'],
  ['0.9.2342.19200300.100.1.25', 'DC'],
  ['1.2.840.113549.1.9.1', 'emailAddress'],
]);

const ORGANIZATION = '2.5.4.10';
const EMAIL_ADDRESS = '1.2.840.113549.1.9.1';

/** A name without its encoding, because it may have been assembled. */
export type NameForm = Pick<Name, 'text' | 'relativeNames'>;

/** @throws MalformedInput */
export function parseName(node: Asn1Node, what: string): Name {
  const sets = listOf(node, TAG.sequence, what).map((set) => listOf(set, TAG.set, `${what} part`).map(parseAttribute));
  const attributes = sets.flat();
  const organizations = attributes.filter(({ type }) => type === ORGANIZATION);
  return {
    raw: node.raw,
    text: sets.map(textOf).join(', '),
    relativeNames: sets.map(canonicalOf),
    organization: (organizations.length > 0 ? organizations : attributes).map(({ folded }) => folded).join(', '),
    mailboxes: attributes.flatMap(({ type, value }) => (type === EMAIL_ADDRESS ? [value] : [])),
  };
}

/** Returns the `organization` of a name whose one attribute O has this value. */
export function organizationNamed(value: string): string {
  return foldedText('O', value);
}

/**
 * The name that a RelativeDistinguishedName below another name is (RFC 5280 §4.2.1.13).
 * @param attributes the attributes of the relative name
 * @throws MalformedInput
 */
export function nameBelow(base: NameForm, attributes: readonly Asn1Node[]): NameForm {
  const set = attributes.map(parseAttribute);
  return { text: `${base.text}, ${textOf(set)}`, relativeNames: [...base.relativeNames, canonicalOf(set)] };
}

function textOf(set: readonly Attribute[]): string {
  return set.map(({ text }) => text).join('+');
}

function canonicalOf(set: readonly Attribute[]): string {
  return set
    .map(({ canonical }) => canonical)
    .sort()
    .join('+');
}

/** Returns whether two names are equal by RFC 5280 §7.1, which ignores case, runs of spaces and the string type. */
export function sameName(a: NameForm, b: NameForm): boolean {
  return (
    a.relativeNames.length === b.relativeNames.length &&
    a.relativeNames.every((part, index) => part === b.relativeNames[index])
  );
}

/**
 * Text from a certificate, made safe to print: nothing in it can move a cursor or reverse the
 * reading direction.
 */
export function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

interface Attribute {
  /** Dotted OID. */
  readonly type: string;
  /** The value as it is encoded, or its hexadecimal octets if it is not a string. */
  readonly value: string;
  readonly text: string;
  readonly canonical: string;
  /** As `text`, but equal for equal values. */
  readonly folded: string;
}

function parseAttribute(node: Asn1Node): Attribute {
  const [typeNode, valueNode, ...rest] = childrenOf(expectTag(node, TAG.sequence, 'name attribute'));
  if (typeNode === undefined || valueNode === undefined || rest.length > 0) {
    throw new MalformedInput('bad-value', 'a name attribute is not a type and a value');
  }
  const type = oidValue(typeNode, 'name attribute type');
  const value = directoryString(valueNode);
  const shown = value === undefined ? `#${toHex(valueNode.raw)}` : escaped(value);
  const folded = value === undefined ? shown : foldedValue(value);
  const label = SHORT_NAMES.get(type) ?? type;
  return {
    type,
    value: value ?? shown,
    text: `${label}=${shown}`,
    canonical: JSON.stringify([type, folded]),
    folded: value === undefined ? `${label}=${shown}` : foldedText(label, value),
  };
}

function foldedText(label: string, value: string): string {
  return `${label}=${escaped(foldedValue(value))}`;
}

/** Maximum number of characters of a value that is folded; no real value has a tenth of it (RFC 5280 appendix A.1). */
const MAX_FOLDED = 1000;

/**
 * Folds a value for comparison according to RFC 5280 §7.1. A longer value only equals itself, because normalising many
 * marks is slow.
 */
function foldedValue(value: string): string {
  if (value.length > MAX_FOLDED) return value;
  return value.normalize('NFKC').toLowerCase().trim().replace(/\s+/g, ' ');
}

function escaped(value: string): string {
  return printable(value).replace(/([,+\\])/g, '\\$1');
}

/** The text of a string value, or undefined for types that are no strings. */
function directoryString(node: Asn1Node): string | undefined {
  if (node.tagClass !== 0 || node.constructed) return undefined;
  switch (node.tag) {
    case 12:
      return new TextDecoder('utf-8').decode(node.content);
    case 18:
    case 19:
    case 20:
    case 22:
    case 26:
      return Array.from(node.content, (octet) => String.fromCharCode(octet)).join('');
    case 30:
      return bmpString(node.content);
    default:
      return undefined;
  }
}

function bmpString(content: Uint8Array): string {
  const units: string[] = [];
  for (let i = 0; i + 1 < content.length; i += 2) {
    units.push(String.fromCharCode((content[i] ?? 0) * 256 + (content[i + 1] ?? 0)));
  }
  return units.join('');
}
