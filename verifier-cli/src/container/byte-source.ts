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
