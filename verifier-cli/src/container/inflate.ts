import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw, inflateRawSync } from 'node:zlib';

/** Each piece costs a round trip to another thread. */
const CHUNK_BYTES = 128 * 1024;

/**
 * Maximum number of packed bytes that one call unpacks. Most files of a package are small, and a stream costs many
 * times more than their data.
 */
const SMALL_BYTES = 32 * 1024;

/**
 * Unpacks raw DEFLATE data (RFC 1951) piece by piece.
 * @returns a generator whose return value is the number of packed bytes that belonged to the data
 * @throws Error if the data are malformed or cut short
 */
export async function* inflateRaw(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, number> {
  const packed = chunks[Symbol.asyncIterator]();
  const first = await packed.next();
  const whole = first.done === true ? null : inflateSmall(first.value);
  if (whole === null) return yield* inflateStream(continued(first, packed));
  await packed.return?.();
  yield whole.bytes;
  return whole.used;
}

/**
 * Unpacks data in one call if they are complete in one small piece and unpack to one piece.
 * @returns null for other data, and for malformed data: the stream then decides what is wrong
 */
function inflateSmall(packed: Uint8Array): { bytes: Uint8Array; used: number } | null {
  if (packed.length > SMALL_BYTES) return null;
  try {
    const options = { maxOutputLength: CHUNK_BYTES, info: true };
    // With `info`, Node also returns the decompressor, which the declared type omits.
    const { buffer: bytes, engine }: { buffer: unknown; engine?: unknown } = inflateRawSync(packed, options);
    const hasCount = typeof engine === 'object' && engine !== null && 'bytesWritten' in engine;
    if (!hasCount || typeof engine.bytesWritten !== 'number' || !(bytes instanceof Uint8Array)) return null;
    return { bytes, used: engine.bytesWritten };
  } catch {
    return null;
  }
}

/** Puts back one result that was already taken from an iterator. */
async function* continued<T>(first: IteratorResult<T, unknown>, rest: AsyncIterator<T, unknown>): AsyncGenerator<T> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

async function* inflateStream(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, number> {
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  const feeding = pipeline(Readable.from(chunks), inflate);
  // A failure while feeding destroys `inflate`, and thus reaches the loop below.
  feeding.catch(() => undefined);
  try {
    for await (const chunk of inflate) yield chunk;
    return inflate.bytesWritten;
  } finally {
    inflate.destroy();
    await feeding.catch(() => undefined);
  }
}
