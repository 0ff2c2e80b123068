/** Bytes with random access: a file, or a buffer in memory. */
export interface ByteSource {
  /** Number of bytes. */
  readonly size: number;
  /**
   * @param offset an offset from 0
   * @param length how many bytes, at most `size` − `offset`
   * @returns exactly `length` bytes
   */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** Creates a source over bytes in memory. */
export function memorySource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    read: async (offset, length) => {
      if (offset < 0 || length < 0 || offset + length > bytes.length) throw new RangeError('read outside the source');
      return bytes.subarray(offset, offset + length);
    },
  };
}

/** Number of bytes that are read together. */
const WINDOW = 32 * 1024;

/**
 * Wraps a source so that short reads are answered from the last window. Otherwise a ZIP of many small files would cost
 * a disk access for each header and content.
 */
export function readAhead({ size, read }: ByteSource): ByteSource {
  let start = 0;
  let held: Uint8Array = new Uint8Array();
  return {
    size,
    read: async (offset, length) => {
      if (length >= WINDOW || offset < 0 || length < 0 || offset + length > size) return read(offset, length);
      const isHeld = offset >= start && offset + length <= start + held.length;
      // Concurrent reads are each correct, because neither uses the other's window.
      const from = isHeld ? start : offset;
      const bytes = isHeld ? held : await read(offset, Math.min(WINDOW, size - offset));
      [start, held] = [from, bytes];
      return bytes.subarray(offset - from, offset - from + length);
    },
  };
}
