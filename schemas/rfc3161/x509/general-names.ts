import type { Asn1Node } from '../asn1/reader.js';
import { childrenOf } from '../asn1/reader.js';
import { type Name, parseName, printable } from './names.js';

/** One GeneralName (RFC 5280 §4.2.1.6), as far as time stamping needs it. */
export type GeneralName =
  | { readonly kind: 'directory'; readonly name: Name; readonly raw: Uint8Array }
  | { readonly kind: 'uri' | 'email' | 'dns'; readonly value: string; readonly raw: Uint8Array }
  | { readonly kind: 'other'; readonly tag: number; readonly raw: Uint8Array };

/** The members of a GeneralNames, or of any list of GeneralName. @throws MalformedInput */
export function parseGeneralNames(node: Asn1Node): GeneralName[] {
  return childrenOf(node).map(parseGeneralName);
}

/** @throws MalformedInput */
export function parseGeneralName(node: Asn1Node): GeneralName {
  const { raw } = node;
  if (node.tagClass !== 2) return { kind: 'other', tag: -1, raw };
  const [directory] = node.tag === 4 && node.constructed ? childrenOf(node) : [];
  if (directory !== undefined) return { kind: 'directory', name: parseName(directory, 'directoryName'), raw };
  const kind = STRING_KINDS.get(node.tag);
  if (kind !== undefined && !node.constructed) return { kind, value: ia5(node.content), raw };
  return { kind: 'other', tag: node.tag, raw };
}

/** A GeneralName as readable text, safe to print. */
export function describeGeneralName(name: GeneralName): string {
  switch (name.kind) {
    case 'directory':
      return name.name.text;
    case 'other':
      return `a name of kind ${name.tag}`;
    default:
      return printable(name.value);
  }
}

const STRING_KINDS: ReadonlyMap<number, 'email' | 'dns' | 'uri'> = new Map([
  [1, 'email'],
  [2, 'dns'],
  [6, 'uri'],
]);

function ia5(content: Uint8Array): string {
  return Array.from(content, (octet) => String.fromCharCode(octet)).join('');
}
