/** Lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  return view(bytes).toString('hex');
}

/** The bytes of an even run of lower-case hex digits, or null for anything else. */
export function fromHex(text: string): Uint8Array | null {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) return null;
  return new Uint8Array(Buffer.from(text, 'hex'));
}

/** base64url without padding (RFC 4648 §5). */
export function toBase64url(bytes: Uint8Array): string {
  return view(bytes).toString('base64url');
}

/** Decodes canonical base64url without padding, or null for anything else, including set unused bits. */
export function fromBase64url(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64url');
  // All other input that the decoder accepts encodes differently.
  return bytes.toString('base64url') === text ? new Uint8Array(bytes) : null;
}

/** base64 with padding (RFC 4648 §4). */
export function toBase64(bytes: Uint8Array): string {
  return view(bytes).toString('base64');
}

/** The bytes of canonical padded base64, or null for anything else. */
export function fromBase64(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? new Uint8Array(bytes) : null;
}

/**
 * A text with one character for each byte. ASCII bytes map to themselves; do not rely on the
 * others.
 */
export function textOfBytes(bytes: Uint8Array): string {
  return view(bytes).toString('latin1');
}

/**
 * The text whose canonical base64url without padding this is, with one character for each byte as `textOfBytes`, or
 * null for anything else.
 */
export function textFromBase64url(text: string): string | null {
  // The decoder skips some characters and treats others as their low byte. (Comparing with the re-encoded bytes would
  // cost as much as decoding.)
  if (!/^[A-Za-z0-9_-]*$/.test(text) || !isEndCanonical(text)) return null;
  return Buffer.from(text, 'base64url').toString('latin1');
}

function isEndCanonical(text: string): boolean {
  const rest = text.length % 4;
  if (rest === 2) return 'AQgw'.includes(text.slice(-1));
  return rest === 3 ? 'AEIMQUYcgkosw048'.includes(text.slice(-1)) : rest === 0;
}

function view(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
