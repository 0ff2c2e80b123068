// Replaces ../inflate.ts in a browser. The browser's DecompressionStream does not report how many
// bytes of its input belong to the data, loses the output that precedes an error, and does not
// bound the output of one input chunk. The low-level functions of pako, a port of zlib, do all
// three.
import { Z_BUF_ERROR, Z_NO_FLUSH, Z_OK, Z_STREAM_END, ZStream, zlibInflate, zlibInflateInit2 } from 'pako';

/**
 * Maximum number of bytes of output per call, which limits the memory that hostile input can make this function use.
 */
const PIECE_BYTES = 64 * 1024;
/** The largest window (RFC 1951 §2), negative for data without a header. */
const RAW_WINDOW_BITS = -15;

/**
 * Unpacks raw DEFLATE data (RFC 1951) piece by piece.
 * @returns a generator whose return value is the number of packed bytes that belong to the data
 * @throws MalformedDeflate if the data are malformed or cut short
 */
export async function* inflateRaw(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, number> {
  const stream = new ZStream();
  zlibInflateInit2(stream, RAW_WINDOW_BITS);
  for await (const chunk of chunks) {
    stream.input = chunk;
    stream.next_in = 0;
    stream.avail_in = chunk.length;
    do {
      stream.output = new Uint8Array(PIECE_BYTES);
      stream.next_out = 0;
      stream.avail_out = PIECE_BYTES;
      const status = zlibInflate(stream, Z_NO_FLUSH);
      if (stream.next_out > 0) yield stream.output.subarray(0, stream.next_out);
      if (status === Z_STREAM_END) return stream.total_in;
      // Z_BUF_ERROR: the output was full exactly where the chunk ended, so there was nothing left
      // to do.
      if (status !== Z_OK && status !== Z_BUF_ERROR) throw new MalformedDeflate(stream.msg);
    } while (stream.avail_out === 0);
  }
  throw new MalformedDeflate('the data end too early');
}

/** The data are not DEFLATE, or are cut short. */
class MalformedDeflate extends Error {
  override readonly name = 'MalformedDeflate';
}
