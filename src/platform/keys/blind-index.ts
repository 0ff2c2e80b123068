import { domainToASCII } from 'node:url';
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
 * Returns the form in which values count as equal. It is used only for indexes; the recorded value stays as it was
 * sent. Two different numbers or addresses must never become equal, because erasing one person must not erase another.
 * - e-mail: NFC, without surrounding white space and invisible characters, in lower case; the domain in
 *   ASCII form (UTS #46) without the dot of the root
 * - phone: NFKC, decimal digits of all scripts as ASCII, without `tel:`, the usual separators (white
 *   space, hyphens, dots, slashes, parentheses) and invisible characters; + for a leading 00 (E.164), and
 *   without the (0) that some write after the country code
 * - identity number: NFKC, without surrounding white space
 * - visitor: NFC only, because verifiers compare the ids of persons so (docs/evidence-format.md)
 */
export function normalise(kind: BlindIndexKind, value: string): string {
  switch (kind) {
    case 'email':
      return normalEmail(value);
    case 'phone':
      return normalPhone(value);
    case 'visitor':
      return value.normalize('NFC');
    case 'id_number':
      return value.normalize('NFKC').trim();
  }
}

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;
const ONLY_ASCII = /^\p{ASCII}*$/u;

function normalEmail(value: string): string {
  const text = value.normalize('NFC').replace(INVISIBLE, '').trim().toLowerCase().normalize('NFC');
  const at = text.lastIndexOf('@');
  if (at < 0) return text;
  const domain = text.slice(at + 1);
  // An invalid domain has no ASCII form, and stays as it is.
  const ascii = ONLY_ASCII.test(domain) ? domain : domainToASCII(domain) || domain;
  return `${text.slice(0, at)}@${ascii.replace(/(?<=[^.])\.$/, '')}`;
}

function normalPhone(value: string): string {
  return value
    .normalize('NFKC')
    .replace(/(?![0-9])\p{Nd}/gu, asciiDigit)
    .replace(INVISIBLE, '')
    .trim()
    .replace(/^tel:/i, '')
    .replace(/^((?:\+|00)[\d\s.-]+)\(0\)/, '$1')
    .replace(/[\s()./\u2010-\u2015\u2212-]/gu, '')
    .replace(/^00/, '+');
}

/** The digits of a script follow each other in Unicode, from 0 to 9, in runs of ten. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(code - before - 1))) before += 1;
  return String(before % 10);
}
