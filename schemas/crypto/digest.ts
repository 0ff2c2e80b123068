import { createHash, hash } from 'node:crypto';
import { concatBytes } from './encoding.js';

const ONE_SHOT_BYTES = 16 * 1024;
const EMPTY = new Uint8Array();

/** SHA-256 of some bytes: 32 bytes (FIPS 180-4). */
export function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  if (length <= ONE_SHOT_BYTES) {
    // For millions of leaves and nodes of trees: one call into OpenSSL, without an object for each. The digest is
    // returned as text, because a buffer would cost more than the hash.
    const content = parts.length === 1 ? (parts[0] ?? EMPTY) : concatBytes(...parts);
    return bytesOfText(hash('sha256', content, 'binary'));
  }
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);
  return plain(digest.digest());
}

function bytesOfText(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** SHA-256 of some bytes, or of a text's UTF-8, in lower-case hex. */
export function sha256Hex(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}

/**
 * SHA-256 of an ASCII text, as base64url without padding (the digest of a disclosure, RFC 9901
 * §4.2.3).
 */
export function sha256Base64url(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** An incremental SHA-256 for content that comes in pieces. `digest` may be called once. */
export interface Sha256Stream {
  update(bytes: Uint8Array): void;
  digest(): Uint8Array;
}

export function sha256Stream(): Sha256Stream {
  const digest = createHash('sha256');
  return {
    update: (bytes) => {
      digest.update(bytes);
    },
    digest: () => plain(digest.digest()),
  };
}

function plain(buffer: Uint8Array): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}
