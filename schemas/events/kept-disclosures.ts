import { DISCLOSURE_NAMES, type DisclosureName } from '../evidence/disclosed-values.js';
import type { ConsentRecord } from './consent-recorded.js';

/** Digits of a salt: base64url of 16 bytes. */
const SALT_DIGITS = 22;

/** A disclosure of a record. */
export interface NamedDisclosure {
  readonly name: DisclosureName;
  /** The disclosure string, whose digest the record commits to. */
  readonly text: string;
}

/** Returns the line of a disclosure that an event stores. @param value the value as JSON */
export function keptLine(salt: string, value: string): string {
  return `${salt}${value}`;
}

/** The JSON that a disclosure string encodes (RFC 9901 §4.2.1). @param value the value as JSON */
export function disclosureJson(salt: string, name: DisclosureName, value: string): string {
  return `["${salt}","${name}",${value}]`;
}

/**
 * Reads the disclosures of a record from what its event stores (encrypted): one line for each, with its salt and the
 * JSON of its value, in the order of the names in the record. This works because JSON contains no line feed. Stored as
 * complete base64url strings, they took two thirds more space.
 * @param digests `disclosures` of the record
 * @returns null if the record names more or fewer; otherwise no digest is checked
 */
export function disclosuresOf(kept: string, digests: ConsentRecord['disclosures']): readonly NamedDisclosure[] | null {
  const names = DISCLOSURE_NAMES.filter((name) => digests[name] !== undefined);
  const lines = kept.split('\n');
  if (lines.length !== names.length) return null;
  return names.map((name, place) => {
    const line = lines[place] ?? '';
    const json = disclosureJson(line.slice(0, SALT_DIGITS), name, line.slice(SALT_DIGITS));
    return { name, text: Buffer.from(json).toString('base64url') };
  });
}
