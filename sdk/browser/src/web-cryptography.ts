import type { Cryptography } from '../../core/ports.js';

const SHA_256 = 'SHA-256';
const utf8 = new TextEncoder();

/** WebCrypto. */
export const webCryptography: Cryptography = {
  // `crypto.randomUUID` is missing in older browsers.
  random: (bytes) => hex(crypto.getRandomValues(new Uint8Array(bytes))),
  sha256: async (text) => hex(await crypto.subtle.digest(SHA_256, utf8.encode(text))),
  hmac: async (secret, text) => {
    const algorithm = { name: 'HMAC', hash: SHA_256 };
    const key = await crypto.subtle.importKey('raw', utf8.encode(secret), algorithm, false, ['sign']);
    return hex(await crypto.subtle.sign('HMAC', key, utf8.encode(text)));
  },
};

function hex(bytes: ArrayBuffer | Uint8Array): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
