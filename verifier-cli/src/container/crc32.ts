import { crc32 as nodeCrc32 } from 'node:zlib';

/** CRC-32 of a ZIP (APPNOTE 4.4.7), continued from `previous`; 0 at the start. */
export function crc32(bytes: Uint8Array, previous: number): number {
  return nodeCrc32(bytes, previous);
}
