import { hmacSha256 } from './hmac.js';

/** The personal values that a record can be found by without being kept in clear. */
export type BlindIndexKind = 'visitor' | 'email' | 'phone' | 'id_number';

/** 128 bits: two persons of one site never meet by chance. */
export const BLIND_INDEX_BYTES = 16;

/**
 * HMAC-SHA256(site key, 'index' 0 kind 0 normalised value), cut to `BLIND_INDEX_BYTES`. Equal values of one site give
 * equal indexes; without the site's key an index says nothing, and those of two sites cannot be compared.
 * @param siteKey 32 bytes
 */
export function blindIndex(siteKey: Uint8Array, kind: BlindIndexKind, value: string): Buffer {
  return hmacSha256(siteKey, `index\0${kind}\0${normalise(kind, value)}`).subarray(0, BLIND_INDEX_BYTES);
}

/**
 * The form in which values count as equal.
 * - e-mail: without surrounding white space, lower case
 * - phone: without the separators people write (white space, hyphens, dots, slashes, parentheses); a leading 00 is +.
 *   Anything else is kept, so that no two numbers are taken for one: erasing a person must not erase another.
 * - visitor and identity number: as given
 *
 * All in Unicode normalisation form C.
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
