import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { crc32, createDeflateRaw, type DeflateRaw } from 'node:zlib';
import { utf8 } from '../../../schemas/crypto/encoding.js';

/**
 * Most content is hashes and base64. Level 3 leaves 22.5 % of `entries.ndjson`, level 1 22.7 % at
 * about the same cost, and level 6 21.4 % at nearly twice the cost.
 */
const COMPRESSION_LEVEL = 3;
/** Number of bytes of deflated data per piece. Each piece costs a switch between threads. */
const PIECE_BYTES = 128 * 1024;
/** Number of records of the central directory per write. */
const RECORDS = 1_000;

/**
 * Writes a ZIP as a stream, one file at a time, in the form of docs/evidence-format.md §3: deflated files with data
 * descriptors, and ZIP64 where a size or offset needs it.
 */
export class ZipArchive {
  readonly #files: ZippedFile[] = [];
  #bytes = 0;

  /**
   * @param destination a stream that takes the archive and that the caller ends
   * @param time modification time of every file
   */
  constructor(
    readonly destination: WriteAhead,
    readonly time: Date,
  ) {}

  /** Number of bytes written so far. */
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

/**
 * Writes to a stream, one piece ahead of it: a write returns once the previous write is done. The caller can thus
 * prepare a piece while the stream handles the previous one, and at most two pieces are in memory.
 */
export class WriteAhead {
  #last: Promise<void> = Promise.resolve();

  constructor(readonly stream: Writable) {
    // The error is reported by the next write. Without a listener, it would end the process.
    stream.on('error', () => undefined);
  }

  /** @throws the error with which the stream was destroyed, or the error of the previous write */
  async write(piece: Uint8Array): Promise<void> {
    await this.#last;
    this.#last = new Promise((resolve, reject) => {
      this.stream.write(piece, (error) => {
        if (error) reject(this.stream.errored ?? error);
        else resolve();
      });
    });
    this.#last.catch(() => undefined);
  }

  /** Ends the stream. On return it has taken everything. @throws as `write` */
  async end(): Promise<void> {
    await this.#last;
    this.stream.end();
    await finished(this.stream, { readable: false });
  }

  /** Destroys the stream. On return it holds nothing open. */
  async destroy(error: Error): Promise<void> {
    this.stream.destroy(error);
    await finished(this.stream).catch(() => undefined);
  }
}

/** Facts about a file of a ZIP, known once its content was written. */
interface ZippedFile {
  readonly name: Uint8Array;
  /** CRC-32 of the content. */
  readonly crc: number;
  /** Number of bytes of the content. */
  readonly size: number;
  /** Number of bytes of the deflated content. */
  readonly packedSize: number;
  /** Offset of the local header. */
  readonly offset: number;
}

const LOCAL_HEADER = 0x04034b50;
const DESCRIPTOR = 0x08074b50;
const DIRECTORY_RECORD = 0x02014b50;
const END = 0x06054b50;
const ZIP64_END = 0x06064b50;
const ZIP64_LOCATOR = 0x07064b50;
const EXTRA_ZIP64 = 0x0001;
const EXTRA_TIMESTAMP = 0x5455;

const VERSION = 20;
const ZIP64_VERSION = 45;
/** Unix, and version 6.3 of the specification. */
const MADE_BY = (3 << 8) | 63;
/** Sizes and CRC follow the data (bit 3); names are UTF-8 (bit 11). */
const FLAGS = (1 << 3) | (1 << 11);
const DEFLATED = 8;
/** A regular file that its owner may write. */
const MODE = 0o100644;
/** Flag of the field for extended timestamps: the modification time is present. */
const HAS_MODIFIED = 1;
const MAX_16 = 0xffff;
const MAX_32 = 0xffffffff;
const MAX_SECONDS = 0x7fffffff;

type Field = readonly [width: 1 | 2 | 4 | 8, value: number];

/** The local header of a deflated file (APPNOTE 4.3.7), without sizes and CRC. */
export function localHeader(name: Uint8Array, time: Date): Uint8Array {
  return packed(
    [
      [4, LOCAL_HEADER],
      [2, VERSION],
      [2, FLAGS],
      [2, DEFLATED],
      [4, dosTime(time)],
      [4, 0],
      [4, 0],
      [4, 0],
      [2, name.length],
      [2, 0],
    ],
    name,
  );
}

/** The data descriptor after a file's data (APPNOTE 4.3.9). */
export function dataDescriptor(file: ZippedFile): Uint8Array {
  const width = isLarge(file) ? 8 : 4;
  return packed([
    [4, DESCRIPTOR],
    [4, file.crc],
    [width, file.packedSize],
    [width, file.size],
  ]);
}

/** The record of a file in the central directory (APPNOTE 4.3.12). */
export function directoryRecord(file: ZippedFile, time: Date): Uint8Array {
  const isZip64 = isLarge(file) || file.offset >= MAX_32;
  const timestamp: readonly Field[] = [
    [2, EXTRA_TIMESTAMP],
    [2, 5],
    [1, HAS_MODIFIED],
    [4, Math.min(Math.floor(time.getTime() / 1000), MAX_SECONDS)],
  ];
  const zip64: readonly Field[] = [
    [2, EXTRA_ZIP64],
    [2, 24],
    [8, file.size],
    [8, file.packedSize],
    [8, file.offset],
  ];
  const extra = packed(isZip64 ? [...timestamp, ...zip64] : timestamp);
  return packed(
    [
      [4, DIRECTORY_RECORD],
      [2, MADE_BY],
      [2, isZip64 ? ZIP64_VERSION : VERSION],
      [2, FLAGS],
      [2, DEFLATED],
      [4, dosTime(time)],
      [4, file.crc],
      [4, isZip64 ? MAX_32 : file.packedSize],
      [4, isZip64 ? MAX_32 : file.size],
      [2, file.name.length],
      [2, extra.length],
      [2, 0],
      [2, 0],
      [2, 0],
      [4, MODE * 2 ** 16],
      [4, isZip64 ? MAX_32 : file.offset],
    ],
    file.name,
    extra,
  );
}

/**
 * The records at the end of a ZIP (APPNOTE 4.3.14 to 4.3.16).
 * @param count number of files
 * @param start offset of the central directory
 * @param size bytes of the central directory
 */
export function endRecords(count: number, start: number, size: number): Uint8Array {
  const isZip64 = count >= MAX_16 || start >= MAX_32 || size >= MAX_32;
  const zip64: readonly Field[] = [
    [4, ZIP64_END],
    [8, 44],
    [2, MADE_BY],
    [2, ZIP64_VERSION],
    [4, 0],
    [4, 0],
    [8, count],
    [8, count],
    [8, size],
    [8, start],
    [4, ZIP64_LOCATOR],
    [4, 0],
    [8, start + size],
    [4, 1],
  ];
  return packed([
    ...(isZip64 ? zip64 : []),
    [4, END],
    [2, 0],
    [2, 0],
    [2, isZip64 ? MAX_16 : count],
    [2, isZip64 ? MAX_16 : count],
    [4, isZip64 ? MAX_32 : size],
    [4, isZip64 ? MAX_32 : start],
    [2, 0],
  ]);
}

function isLarge({ size, packedSize }: ZippedFile): boolean {
  return size >= MAX_32 || packedSize >= MAX_32;
}

/** Encodes time and date in the format of MS-DOS, in UTC: from 1980, in steps of two seconds. */
function dosTime(time: Date): number {
  const year = Math.min(Math.max(time.getUTCFullYear() - 1980, 0), 127);
  const date = (year << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
  return date * 2 ** 16 + clock;
}

/** Encodes little-endian numbers, followed by bytes. */
function packed(fields: readonly Field[], ...rest: readonly Uint8Array[]): Uint8Array {
  const out = Buffer.alloc(fields.reduce((sum, [width]) => sum + width, 0));
  let at = 0;
  for (const [width, value] of fields) {
    if (width === 8) out.writeBigUInt64LE(BigInt(value), at);
    else out.writeUIntLE(value, at, width);
    at += width;
  }
  return Buffer.concat([out, ...rest]);
}
