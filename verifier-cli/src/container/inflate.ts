import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';

/** Each piece costs a round trip to another thread. */
const CHUNK_BYTES = 128 * 1024;

/**
 * Unpacks raw DEFLATE data (RFC 1951) piece by piece.
 * @returns the generator's return value is the number of packed bytes that belonged to the data
 * @throws Error if the data are malformed or cut short
 */
export async function* inflateRaw(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, number> {
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  const feeding = pipeline(Readable.from(chunks), inflate);
  // A failure of the feeding destroys `inflate`, and so reaches the loop below.
  feeding.catch(() => undefined);
  try {
    for await (const chunk of inflate) yield chunk;
    return inflate.bytesWritten;
  } finally {
    inflate.destroy();
    await feeding.catch(() => undefined);
  }
}
