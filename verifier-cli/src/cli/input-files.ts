import { open, readFile, stat } from 'node:fs/promises';
import { type FileSource, openFileSource } from '../container/file-source.js';
import { UsageError } from './usage-error.js';

/** Size limit for files that are read into memory: certificates, keys, CRLs, tokens, proofs. */
const MAX_BYTES = 64 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;

/**
 * The content of a file that the caller of the command names.
 * @throws UsageError if it cannot be read, or is larger than 64 MiB
 */
export async function readSmallFile(path: string): Promise<Uint8Array> {
  return readable(path, async () => {
    if ((await stat(path)).size > MAX_BYTES) throw new UsageError(`${path} is larger than 64 MiB`);
    return new Uint8Array(await readFile(path));
  });
}

/** Opens a file to be read in parts; the caller closes it. @throws UsageError if it cannot be opened */
export async function openInput(path: string): Promise<FileSource> {
  return openFileSource(path).catch((error: unknown) => {
    throw new UsageError(`${path} cannot be opened: ${error instanceof Error ? error.message : 'unknown error'}`);
  });
}

/** The first bytes of a file, fewer if it is shorter. @throws UsageError */
export async function startOf(path: string, length: number): Promise<Uint8Array> {
  return readable(path, async () => {
    const handle = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(new Uint8Array(length), 0, length, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  });
}

/** Reads a file of any size, piece by piece. @throws UsageError if it cannot be read to its end */
export async function withPieces<T>(path: string, use: (pieces: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T> {
  return readable(path, async () => {
    const handle = await open(path, 'r');
    try {
      return await use(piecesOf(handle));
    } finally {
      await handle.close();
    }
  });
}

async function* piecesOf(handle: Awaited<ReturnType<typeof open>>): AsyncGenerator<Uint8Array, void> {
  const buffer = new Uint8Array(PIECE_BYTES);
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

async function readable<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path} cannot be read: ${error instanceof Error ? error.message : 'unknown error'}`);
  }
}
