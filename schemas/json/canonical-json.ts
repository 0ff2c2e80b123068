import type { JsonValue } from './json-value.js';

/** A value that RFC 8785 cannot carry: a number that is not finite, or a string with a lone surrogate. */
export class NotCanonicalizable extends Error {
  override readonly name = 'NotCanonicalizable';
}

/**
 * The canonical text of a JSON value (JCS, RFC 8785): members sorted by UTF-16 code units, no white space, strings and numbers as
 * ECMAScript serialises them. Its UTF-8 bytes are what is hashed.
 * @throws NotCanonicalizable
 */
export function canonicalJson(value: JsonValue): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return canonicalString(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new NotCanonicalizable(`${value} is not a JSON number`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${canonicalString(name)}:${canonicalJson(member)}`).join(',')}}`;
}

/** One string in canonical form, quotes included. @throws NotCanonicalizable */
export function canonicalString(text: string): string {
  if (!text.isWellFormed()) throw new NotCanonicalizable('a string holds a lone surrogate');
  return JSON.stringify(text);
}
