// Replaces ../crc32.ts in a browser.

const TABLE = Uint32Array.from({ length: 256 }, (_, octet) => {
  let value = octet;
  for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32 of a ZIP (APPNOTE 4.4.7), continued from `previous`; 0 at the start. */
export function crc32(bytes: Uint8Array, previous: number): number {
  let crc = ~previous;
  for (let i = 0; i < bytes.length; i += 1) crc = (crc >>> 8) ^ (TABLE[(crc ^ (bytes[i] ?? 0)) & 255] ?? 0);
  return ~crc >>> 0;
}
