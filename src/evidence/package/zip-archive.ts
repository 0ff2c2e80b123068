import { crc32, createDeflateRaw, type DeflateRaw } from 'node:zlib';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { WriteAhead } from './write-ahead.js';
import { dataDescriptor, directoryRecord, endRecords, localHeader, type ZippedFile } from './zip-records.js';

/**
 * Most content is hashes and base64. Level 3 leaves 22.5 % of `entries.ndjson`, level 1 22.7 % at
 * about the same cost, and level 6 21.4 % at nearly twice the cost.
 */
const COMPRESSION_LEVEL = 3;
/** Bytes of deflated data that come at once. Each piece costs a change of threads. */
const PIECE_BYTES = 128 * 1024;
/** Records of the central directory that one write has. */
const RECORDS = 1_000;

/**
 * Writes a ZIP as a stream, one file at a time, as docs/evidence-format.md §3 allows it: deflated
 * files with data descriptors, and ZIP64 where a size or offset needs it.
 */
export class ZipArchive {
  readonly #files: ZippedFile[] = [];
  #bytes = 0;

  /**
   * @param destination takes the archive. The caller ends it
   * @param time modification time of every file
   */
  constructor(
    readonly destination: WriteAhead,
    readonly time: Date,
  ) {}

  /** Bytes written so far. */
  get size(): number {
    return this.#bytes;
  }

  /**
   * Adds a file. On return all of it was written.
   * @returns bytes of the content
   * @throws errors of `content` and of the destination
   */
  async add(name: string, content: AsyncIterable<Uint8Array>): Promise<number> {
    const offset = this.#bytes;
    const nameBytes = utf8(name);
    await this.#write(localHeader(nameBytes, this.time));
    const start = this.#bytes;
    const facts = await this.#deflate(content);
    const file = { name: nameBytes, ...facts, packedSize: this.#bytes - start, offset };
    await this.#write(dataDescriptor(file));
    this.#files.push(file);
    return facts.size;
  }

  /** Writes the central directory. */
  async finish(): Promise<void> {
    const start = this.#bytes;
    for (let at = 0; at < this.#files.length; at += RECORDS) {
      const page = this.#files.slice(at, at + RECORDS);
      await this.#write(Buffer.concat(page.map((file) => directoryRecord(file, this.time))));
    }
    await this.#write(endRecords(this.#files.length, start, this.#bytes - start));
  }

  async #deflate(content: AsyncIterable<Uint8Array>): Promise<Pick<ZippedFile, 'crc' | 'size'>> {
    const deflate = createDeflateRaw({ level: COMPRESSION_LEVEL, chunkSize: PIECE_BYTES });
    const sent = this.#send(deflate);
    // Awaited below, after the content.
    sent.catch(() => undefined);
    const ahead = new WriteAhead(deflate);
    let crc = 0;
    let size = 0;
    try {
      for await (const piece of content) {
        crc = crc32(piece, crc);
        size += piece.length;
        await ahead.write(piece);
      }
      await ahead.end();
    } catch (error) {
      deflate.destroy(error instanceof Error ? error : new Error(String(error)));
      // If the destination failed first, this is its error.
      await sent;
      throw error;
    }
    await sent;
    return { crc, size };
  }

  async #send(deflate: DeflateRaw): Promise<void> {
    for await (const piece of deflate) await this.#write(piece);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    await this.destination.write(bytes);
    this.#bytes += bytes.length;
  }
}
