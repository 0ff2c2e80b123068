import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import type { Cryptography } from '../../core/ports.js';

/**
 * SHA-256 and HMAC in JavaScript, because Hermes has no WebCrypto.
 * @param randomBytes undefined if the engine has no source of random bytes, in which case the SDK does not start
 */
export function appCryptography(randomBytes: ((count: number) => Uint8Array) | undefined): Cryptography {
  return {
    random: (count) => hex(randomBytes?.(count) ?? new Uint8Array(count)),
    sha256: async (text) => hex(sha256(utf8(text))),
    hmac: async (key, text) => hex(hmac(sha256, utf8(key), utf8(text))),
  };
}

/** Older versions of Hermes have no `TextEncoder`. @param text a text without lone surrogates, such as JSON */
function utf8(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const one of encodeURIComponent(text).matchAll(/%(..)|[^%]/g))
    bytes.push(one[1] === undefined ? one[0].charCodeAt(0) : Number.parseInt(one[1], 16));
  return Uint8Array.from(bytes);
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
