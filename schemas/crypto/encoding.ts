export {
  fromBase64,
  fromBase64url,
  fromHex,
  textFromBase64url,
  textOfBytes,
  toBase64,
  toBase64url,
  toHex,
} from './binary-text.js';

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The UTF-8 bytes of a text. Lone surrogates become U+FFFD: check `isWellFormed` first where that
 * matters.
 */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Decodes UTF-8 and keeps a byte-order mark, or null if the bytes are not valid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return null;
  }
}

/** Whether two byte strings are the same. Not for secrets: it stops at the first difference. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

/** Splits concatenated byte strings of one length. @returns null if the last one is incomplete */
export function splitBytes(bytes: Uint8Array, length: number): readonly Uint8Array[] | null {
  if (bytes.length % length !== 0) return null;
  return Array.from({ length: bytes.length / length }, (_, i) => bytes.slice(i * length, (i + 1) * length));
}

/** A whole number as 8 bytes, big-endian. @param value an integer from 0 to 2^64 − 1 */
export function uint64(value: number | bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

/** Several byte strings as one. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const out = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    out.set(part, offset);
    offset += part.length;
  }
  return out;
}
