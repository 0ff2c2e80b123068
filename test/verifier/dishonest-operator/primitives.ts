import { createHash } from 'node:crypto';

/** JSON as this generator writes it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
/** A JSON object whose members a forgery may change. */
export type JsonRecord = { [name: string]: Json };

export function utf8(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'utf8'));
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

export function sha256(data: Uint8Array | string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(data).digest());
}

export function hex(data: Uint8Array): string {
  return Buffer.from(data).toString('hex');
}

export function sha256Hex(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex');
}

export function base64(data: Uint8Array): string {
  return Buffer.from(data).toString('base64');
}

export function base64url(data: Uint8Array | string): string {
  return Buffer.from(data).toString('base64url');
}

/**
 * The canonical text of JSON (RFC 8785). Members are sorted by UTF-16 code units; numbers and strings
 * are written as ECMAScript does.
 */
export function canonical(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}

/** Returns a UUID that is the same for the same label. */
export function uuid(label: string): string {
  const digits = sha256Hex(`uuid of ${label}`);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `a${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}

/** Time as the format writes it. @param milliseconds since 1970 */
export function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** The element at this index. @throws RangeError if there is none */
export function at<T>(list: readonly T[], index: number): T {
  const found = list.at(index);
  if (found === undefined) throw new RangeError(`no element ${index} of ${list.length}`);
  return found;
}
