import type { ByteSource } from '../container/byte-source.js';

/** Creates a source over a file that the reader chose. Parts are read from disk as needed. */
export function blobSource(blob: Blob): ByteSource {
  return {
    size: blob.size,
    read: async (offset, length) => {
      const bytes = new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer());
      if (offset < 0 || bytes.length !== length) throw new RangeError('read outside the source');
      return bytes;
    },
  };
}
