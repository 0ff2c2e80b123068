// Replaces ../binary-text.ts in a browser, where there is no Buffer.

const HEX = Array.from({ length: 256 }, (_, octet) => octet.toString(16).padStart(2, '0'));
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const octet of bytes) text += HEX[octet];
  return text;
}

/** The bytes of an even run of lower-case hex digits, or null for anything else. */
export function fromHex(text: string): Uint8Array | null {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/** base64url without padding (RFC 4648 §5). */
export function toBase64url(bytes: Uint8Array): string {
  return encode(bytes, BASE64URL);
}

/** Decodes canonical base64url without padding, or null for anything else, including set unused bits. */
export function fromBase64url(text: string): Uint8Array | null {
  return decode(text, BASE64URL);
}

/** base64 with padding (RFC 4648 §4). */
export function toBase64(bytes: Uint8Array): string {
  const text = encode(bytes, BASE64);
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

/** The bytes of canonical padded base64, or null for anything else. */
export function fromBase64(text: string): Uint8Array | null {
  const bare = text.replace(/={0,2}$/, '');
  return text.length % 4 === 0 && text.length - bare.length === (4 - (bare.length % 4)) % 4
    ? decode(bare, BASE64)
    : null;
}

/**
 * A text with one character for each byte. ASCII bytes map to themselves; do not rely on the
 * others.
 */
export function textOfBytes(bytes: Uint8Array): string {
  return new TextDecoder('windows-1252').decode(bytes);
}

/**
 * The text whose canonical base64url without padding this is, with one character for each byte as `textOfBytes`, or
 * null for anything else.
 */
export function textFromBase64url(text: string): string | null {
  const bytes = fromBase64url(text);
  return bytes === null ? null : textOfBytes(bytes);
}

function encode(bytes: Uint8Array, alphabet: string): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const octet of bytes) {
    held = ((held << 8) | octet) & 0xffff;
    for (bits += 8; bits >= 6; bits -= 6) text += alphabet[(held >> (bits - 6)) & 63];
  }
  return bits === 0 ? text : text + alphabet[(held << (6 - bits)) & 63];
}

function decode(text: string, alphabet: string): Uint8Array | null {
  if (text.length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let bits = 0;
  let held = 0;
  let filled = 0;
  for (const character of text) {
    const value = alphabet.indexOf(character);
    if (value < 0) return null;
    held = ((held << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[filled] = (held >> bits) & 255;
    filled += 1;
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : null;
}
