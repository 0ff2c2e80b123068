import { crc32 } from 'node:zlib';

/** A picture of one pixel, as PNG. */
export const PNG = new Uint8Array(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
);

/** Signature and first chunk. */
const HEAD_BYTES = 33;

/** The same picture with a chunk of random bytes, which cannot be compressed. */
export function pictureWith(randomBytes: Uint8Array): Uint8Array {
  const body = Buffer.concat([Buffer.from('ruNd', 'latin1'), randomBytes]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(randomBytes.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([PNG.subarray(0, HEAD_BYTES), length, body, checksum, PNG.subarray(HEAD_BYTES)]);
}
