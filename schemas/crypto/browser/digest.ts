// Replaces ../digest.ts in a browser.
import { utf8 } from '../encoding.js';
import { toBase64url, toHex } from './binary-text.js';
import { HASHES } from './hashes.js';

/** SHA-256 of some bytes: 32 bytes (FIPS 180-4). */
export function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  const digest = HASHES.sha256.create();
  for (const part of parts) digest.update(part);
  return digest.digest();
}

/** SHA-256 of some bytes, or of a text's UTF-8, in lower-case hex. */
export function sha256Hex(content: string | Uint8Array): string {
  return toHex(HASHES.sha256(typeof content === 'string' ? utf8(content) : content));
}

/**
 * SHA-256 of an ASCII text, as base64url without padding (the digest of a disclosure, RFC 9901
 * §4.2.3).
 */
export function sha256Base64url(text: string): string {
  return toBase64url(HASHES.sha256(utf8(text)));
}

/** An incremental SHA-256 for content that comes in pieces. `digest` may be called once. */
export interface Sha256Stream {
  update(bytes: Uint8Array): void;
  digest(): Uint8Array;
}

export function sha256Stream(): Sha256Stream {
  const digest = HASHES.sha256.create();
  return {
    update: (bytes) => {
      digest.update(bytes);
    },
    digest: () => digest.digest(),
  };
}
