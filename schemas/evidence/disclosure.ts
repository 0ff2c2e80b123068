import * as z from 'zod';
import { sha256Base64url } from '../crypto/digest.js';
import { decodeUtf8, fromBase64url, textFromBase64url, toBase64url, utf8 } from '../crypto/encoding.js';
import type { JsonValue } from '../json/json-value.js';
import { MAX_JSON_DEPTH, MAX_JSON_VALUES, parseStrictInput, StrictJsonError } from '../json/strict-json.js';

/**
 * One personal field of a record, provable without the others (SD-JWT disclosure, RFC 9901 §4.2.1).
 */
export interface Disclosure {
  /** At least 128 random bits, base64url. */
  readonly salt: string;
  readonly name: string;
  readonly value: JsonValue;
}

/** Number of bytes of randomness in a salt (RFC 9901 §9.3). */
export const SALT_BYTES = 16;

/**
 * Encodes a disclosure string: base64url of the JSON array `[salt, name, value]`.
 * @param salt `SALT_BYTES` fresh random bytes
 */
export function encodeDisclosure(salt: Uint8Array, name: string, value: JsonValue): string {
  return toBase64url(utf8(JSON.stringify([toBase64url(salt), name, value])));
}

/**
 * The digest that the record holds: base64url(SHA-256(ASCII of the disclosure string)) (RFC 9901
 * §4.2.3).
 */
export function disclosureDigest(disclosure: string): string {
  return sha256Base64url(disclosure);
}

const DisclosureArray = z.tuple([z.string(), z.string().min(1).max(100), z.unknown()]);

/**
 * Reads a disclosure string.
 * @returns null if it is not base64url of a strict JSON array of salt (16 bytes or more), name and
 *   value
 */
export function decodeDisclosure(text: string): Disclosure | null {
  const decoded = textFromBase64url(text);
  if (decoded === null) return null;
  return plainDisclosure(decoded) ?? strictDisclosure(text);
}

/**
 * Fast path for nearly every disclosure of a package: a salt of 16 bytes, a simple name, and an unstructured ASCII
 * value without characters that need escaping. `strictDisclosure` reads every text of this form in the same way.
 */
const PLAIN =
  /^\["([A-Za-z0-9_-]{21}[AQgw])","([A-Za-z0-9_.-]{1,100})",("[\x20\x21\x23-\x5b\x5d-\x7e]*"|true|false|null|0|-?[1-9][0-9]{0,14})\]$/;

function plainDisclosure(json: string): Disclosure | null {
  const [, salt, name, literal] = PLAIN.exec(json) ?? [];
  if (salt === undefined || name === undefined || literal === undefined) return null;
  const value: JsonValue = literal.startsWith('"') ? literal.slice(1, -1) : JSON.parse(literal);
  return { salt, name, value };
}

function strictDisclosure(text: string): Disclosure | null {
  const bytes = fromBase64url(text);
  const json = bytes === null ? null : decodeUtf8(bytes);
  if (json === null) return null;
  try {
    const value = parseStrictInput(json, MAX_JSON_DEPTH, MAX_JSON_VALUES, 'shortest');
    const shape = DisclosureArray.safeParse(value);
    if (!shape.success || !Array.isArray(value)) return null;
    const [salt, name] = shape.data;
    const saltBytes = fromBase64url(salt);
    const disclosed = value[2];
    if (saltBytes === null || saltBytes.length < SALT_BYTES || disclosed === undefined) return null;
    return { salt, name, value: disclosed };
  } catch (error) {
    if (error instanceof StrictJsonError) return null;
    throw error;
  }
}

/**
 * Value in an attachment's disclosure that replaces the content. The content itself is a file
 * named by this SHA-256.
 */
export const AttachmentReference = z.strictObject({
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256, in hex.'),
  media_type: z.string().max(100).describe('Media type of the content.'),
  size: z.int().min(0).describe('Size in bytes.'),
});
export type AttachmentReference = z.infer<typeof AttachmentReference>;
