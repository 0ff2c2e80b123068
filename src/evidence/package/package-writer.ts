import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, rename, rm, stat } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { sha256Stream } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import { ExportFailed } from './errors.js';
import { WriteAhead, ZipArchive } from './zip-archive.js';

/** Content of a file, in chunks. */
export type Content = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Takes the files of a package. */
export interface FileSink {
  /** SHA-256, in hex, of every file added so far. */
  readonly digests: ReadonlyMap<string, string>;
  /** Adds a file. On return its content was read to the end. @returns bytes of the content */
  add(name: string, content: Content): Promise<number>;
}

export interface PackageFile {
  readonly path: string;
  /**
   * True replaces an existing file once the new one is complete. Otherwise, an existing file is an
   * error.
   */
  readonly overwrites: boolean;
}

/** The destination of a package: a file, or a stream that is ended after the whole package. */
export type PackageOutput = PackageFile | Writable;

/**
 * Writes a package as a stream, one file at a time, with bounded memory. A package file has a
 * temporary name in the same folder until it is complete.
 */
export class PackageWriter implements FileSink {
  readonly #destination: WriteAhead;
  readonly #zip: ZipArchive;
  readonly #digests = new Map<string, string>();

  /** @param time modification time of every file in the package */
  private constructor(
    readonly place: (PackageFile & { readonly temporaryPath: string }) | null,
    destination: Writable,
    time: Date,
  ) {
    this.#destination = new WriteAhead(destination);
    this.#zip = new ZipArchive(this.#destination, time);
  }

  /** Opens a writer. @throws ExportFailed `output-exists` */
  static async open(output: PackageOutput, time: Date): Promise<PackageWriter> {
    if (output instanceof Writable) return new PackageWriter(null, output, time);
    if (!output.overwrites) await refuseExisting(output.path);
    const temporaryPath = `${output.path}.${randomBytes(6).toString('hex')}.partial`;
    const file = createWriteStream(temporaryPath, { flags: 'wx', mode: 0o600, flush: true });
    return new PackageWriter({ ...output, temporaryPath }, file, time);
  }

  /** SHA-256, in hex, of every file added so far. */
  get digests(): ReadonlyMap<string, string> {
    return this.#digests;
  }

  /** Number of bytes of the ZIP written so far. */
  get size(): number {
    return this.#zip.size;
  }

  /**
   * Adds a file. On return its content was read to the end.
   * @returns bytes of the content
   * @throws errors of `content` and of the destination; Error if the name exists
   */
  async add(name: string, content: Content): Promise<number> {
    if (this.#digests.has(name)) throw new Error(`the package holds ${name} already`);
    return this.#zip.add(name, this.#hashed(name, content));
  }

  async *#hashed(name: string, content: Content): AsyncGenerator<Uint8Array, void> {
    const digest = sha256Stream();
    for await (const piece of content) {
      digest.update(piece);
      if (piece.length > 0) yield piece;
    }
    this.#digests.set(name, toHex(digest.digest()));
  }

  /**
   * Ends the ZIP. On return the stream has received all of it, or it is on disk under its temporary
   * name.
   */
  async end(): Promise<void> {
    await this.#zip.finish();
    await this.#destination.end();
  }

  /** Renames a package file to its final name. @throws ExportFailed `output-exists` */
  async publish(): Promise<void> {
    if (this.place === null) return;
    const { path, overwrites, temporaryPath } = this.place;
    if (overwrites) return rename(temporaryPath, path);
    try {
      // Unlike a rename, a link never replaces a file that another process has created meanwhile.
      await link(temporaryPath, path);
      await rm(temporaryPath);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') throw alreadyThere(path);
      if (codeOf(error) !== 'EPERM' && codeOf(error) !== 'ENOTSUP') throw error;
      await refuseExisting(path);
      await rename(temporaryPath, path);
    }
  }

  /** Destroys the destination and removes the temporary file. */
  async discard(): Promise<void> {
    await this.#destination.destroy(new Error('the package is discarded'));
    if (this.place !== null) await rm(this.place.temporaryPath, { force: true });
  }
}

/** Checks that no file exists at the path. @throws ExportFailed `output-exists` */
export async function refuseExisting(path: string): Promise<void> {
  const isThere = await stat(path).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    },
  );
  if (isThere) throw alreadyThere(path);
}

function alreadyThere(path: string): ExportFailed {
  return new ExportFailed(
    'output-exists',
    `${path} exists already. Choose another path, or replace the file with --overwrite.`,
  );
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

const CHUNK_BYTES = 256 * 1024;
/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES = 3;
/** Number of lines that are collected before they are encoded. */
const PAGE = 100;
/** The same number for lines that are kept until their file is written. */
const WAITING_PAGE = 2_000;

/** Encodes lines as NDJSON, in chunks of about 256 KiB. */
export async function* ndjson(lines: Iterable<JsonValue> | AsyncIterable<JsonValue>): AsyncGenerator<Uint8Array, void> {
  let page: JsonValue[] = [];
  for await (const line of lines) {
    page.push(line);
    if (page.length < PAGE) continue;
    yield* ndjsonAtHand(page);
    page = [];
  }
  yield* ndjsonAtHand(page);
}

/** Encodes lines that are in memory as NDJSON. */
export function* ndjsonAtHand(lines: Iterable<JsonValue>): Generator<Uint8Array, void> {
  const texts = function* (): Generator<string, void> {
    for (const line of lines) yield `${JSON.stringify(line)}\n`;
  };
  yield* encodedLines(texts());
}

/** Encodes pages of lines that are already JSON. Awaiting each of a million lines would be too slow. */
export async function* encodedPages(pages: AsyncIterable<readonly string[]>): AsyncGenerator<Uint8Array, void> {
  for await (const page of pages) yield* encodedLines(page);
}

/**
 * Encodes lines, each of which ends with a line feed. They are written into the chunk one by one, because joining them
 * and encoding the result takes three times as long.
 */
function* encodedLines(lines: Iterable<string>): Generator<Uint8Array, void> {
  let chunk = Buffer.allocUnsafeSlow(0);
  let used = 0;
  for (const line of lines) {
    const most = line.length * MAX_BYTES;
    if (used + most > chunk.length) {
      if (used > 0) yield chunk.subarray(0, used);
      chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, most));
      used = 0;
    }
    used += chunk.write(line, used);
  }
  if (used > 0) yield chunk.subarray(0, used);
}

/** Lines that are kept as bytes until their file is written, because bytes need less memory than objects. */
export class EncodedLines {
  readonly #chunks: Uint8Array[] = [];
  #page: string[] = [];
  #bytes = 0;

  add(line: JsonValue): void {
    this.#page.push(`${JSON.stringify(line)}\n`);
    if (this.#page.length >= WAITING_PAGE) this.#encode();
  }

  /** Encodes what was added since the last call. @returns all bytes in order, and their number */
  encoded(): { readonly chunks: readonly Uint8Array[]; readonly bytes: number } {
    this.#encode();
    return { chunks: this.#chunks, bytes: this.#bytes };
  }

  #encode(): void {
    if (this.#page.length === 0) return;
    const chunk = Buffer.from(this.#page.join(''));
    this.#page = [];
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
  }
}
