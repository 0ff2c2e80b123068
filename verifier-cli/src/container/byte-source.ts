/** Bytes that can be read at any place: a file, or a buffer in memory. */
export interface ByteSource {
  /** Number of bytes. */
  readonly size: number;
  /**
   * @param offset from 0
   * @param length how many bytes, at most `size` − `offset`
   * @returns exactly `length` bytes
   */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** A source over bytes that are in memory already. */
export function memorySource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    read: async (offset, length) => {
      if (offset < 0 || length < 0 || offset + length > bytes.length) throw new RangeError('read outside the source');
      return bytes.subarray(offset, offset + length);
    },
  };
}

/** Bytes that are read together. */
const WINDOW = 32 * 1024;

/**
 * The same source, of which short reads are answered from the last window: a ZIP of many small files would
 * otherwise cost a request to the disk for each header and content.
 */
export function readAhead({ size, read }: ByteSource): ByteSource {
  let start = 0;
  let held: Uint8Array = new Uint8Array();
  return {
    size,
    read: async (offset, length) => {
      if (length >= WINDOW || offset < 0 || length < 0 || offset + length > size) return read(offset, length);
      const isHeld = offset >= start && offset + length <= start + held.length;
      // Reads at the same time are each right: what one has read is not taken from the other.
      const from = isHeld ? start : offset;
      const bytes = isHeld ? held : await read(offset, Math.min(WINDOW, size - offset));
      [start, held] = [from, bytes];
      return bytes.subarray(offset - from, offset - from + length);
    },
  };
}
