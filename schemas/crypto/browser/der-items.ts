/** One DER value with a single tag octet. */
export interface DerItem {
  readonly tag: number;
  readonly content: Uint8Array;
}

/**
 * The DER values that follow one another in some bytes (X.690 §8.1, lengths up to 4 octets), or null if they are
 * malformed.
 */
export function derItems(bytes: Uint8Array): DerItem[] | null {
  const items: DerItem[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0;
    let length = bytes[at + 1];
    at += 2;
    if (length === undefined) return null;
    if (length >= 0x80) {
      const octets = length & 0x7f;
      if (octets === 0 || octets > 4 || at + octets > bytes.length) return null;
      length = bytes.subarray(at, at + octets).reduce((sum, octet) => sum * 256 + octet, 0);
      at += octets;
    }
    if (at + length > bytes.length) return null;
    items.push({ tag, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return items;
}
