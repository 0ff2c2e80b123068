import { hmacSha256 } from './hmac.js';

/** Personal values by which a record can be found although they are not stored in clear. */
export type BlindIndexKind = 'visitor' | 'email' | 'phone' | 'id_number';

/** 128 bits: the values of two persons of one site practically never collide. */
export const BLIND_INDEX_BYTES = 16;

/**
 * Computes HMAC-SHA256(site key, 'index' 0 kind 0 normalized value), truncated to
 * `BLIND_INDEX_BYTES`. Equal values of one site have equal indexes. Without the site's key an index
 * reveals nothing, and indexes of two sites cannot be compared.
 * @param siteKey 32 bytes
 */
export function blindIndex(siteKey: Uint8Array, kind: BlindIndexKind, value: string): Buffer {
  return hmacSha256(siteKey, `index\0${kind}\0${normalise(kind, value)}`).subarray(0, BLIND_INDEX_BYTES);
}

/**
 * Returns the form in which values count as equal, in Unicode normalization form C.
 * - e-mail: without surrounding white space, in lower case
 * - phone: without usual separators (white space, hyphens, dots, slashes, parentheses), and + for a
 *   leading 00. Other characters remain, so that two numbers never become one: erasing one person
 *   must not erase another.
 * - visitor and identity number: unchanged
 */
export function normalise(kind: BlindIndexKind, value: string): string {
  switch (kind) {
    case 'email':
      return value.trim().toLowerCase().normalize('NFC');
    case 'phone':
      return value
        .normalize('NFC')
        .replace(/[\s()./\u2010-\u2015-]/gu, '')
        .replace(/^00/, '+');
    case 'visitor':
    case 'id_number':
      return value.normalize('NFC');
  }
}
