import { open } from 'node:fs/promises';
import type { ByteSource } from './byte-source.js';

/** A source over a file. The caller closes it. */
export interface FileSource extends ByteSource {
  close(): Promise<void>;
}

/**
 * Opens a regular file for reading.
 * @throws Error of the file system, or if `path` is not a regular file
 */
export async function openFileSource(path: string): Promise<FileSource> {
  const handle = await open(path, 'r');
  const stat = await handle.stat();
  if (!stat.isFile()) {
    await handle.close();
    throw new Error(`${path} is not a regular file`);
  }
  return {
    size: stat.size,
    read: async (offset, length) => {
      const buffer = new Uint8Array(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled);
        if (bytesRead === 0) throw new RangeError('read outside the source');
        filled += bytesRead;
      }
      return buffer;
    },
    close: () => handle.close(),
  };
}
