import type { JsonValue } from './json-value.js';

/**
 * A value that RFC 8785 cannot carry: a number that is not finite, or a string with a lone
 * surrogate.
 */
export class NotCanonicalizable extends Error {
  override readonly name = 'NotCanonicalizable';
}

/**
 * The canonical text of a JSON value (JCS, RFC 8785): members sorted by UTF-16 code units, no white
 * space, strings and numbers as ECMAScript serialises them. Hashes are over its UTF-8 bytes.
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

/** One string in canonical form, including quotes. @throws NotCanonicalizable */
export function canonicalString(text: string): string {
  if (!text.isWellFormed()) throw new NotCanonicalizable('a string contains a lone surrogate');
  return JSON.stringify(text);
}

/**
 * Whether a text is the canonical form of the value that was parsed from it. The native
 * serialisation is tried first: where it yields the text, and the members of every object are in
 * order, it equals the output of `canonicalJson`.
 */
export function isCanonicalJson(text: string, value: JsonValue): boolean {
  if (JSON.stringify(value) === text && areMembersSorted(value)) return true;
  return canonicalJson(value) === text;
}

function areMembersSorted(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (Array.isArray(value)) return value.every(areMembersSorted);
  let last: string | null = null;
  for (const name of Object.keys(value)) {
    if (last !== null && name <= last) return false;
    last = name;
    const member = value[name];
    if (member !== undefined && typeof member === 'object' && !areMembersSorted(member)) return false;
  }
  return true;
}
