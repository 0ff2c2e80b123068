import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, rename, rm, stat } from 'node:fs/promises';
import { Readable, Transform, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { sha256Stream } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { ExportFailed } from './errors.js';

/** Content of a file, in chunks. */
export type Content = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** Most content is hashes and base64, which a higher level does not compress better. */
const COMPRESSION_LEVEL = 3;
const PACKAGE_FILE_MODE = 0o100644;

/** Takes the files of a package. */
export interface FileSink {
  /** SHA-256, in hex, of every file added so far. */
  readonly digests: ReadonlyMap<string, string>;
  /** Adds a file. On return its content was read to the end. */
  add(name: string, content: Content): Promise<void>;
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
  readonly #zip = new ZipFile();
  readonly #destination: Writable;
  #bytes = 0;
  readonly #written: Promise<void>;
  readonly #digests = new Map<string, string>();
  #source: Readable | null = null;

  /** @param time modification time of every file in the package */
  private constructor(
    readonly place: (PackageFile & { readonly temporaryPath: string }) | null,
    destination: Writable,
    readonly time: Date,
  ) {
    this.#destination = destination;
    this.#zip.on('error', (error) => destination.destroy(error instanceof Error ? error : new Error(String(error))));
    const counted = new Transform({
      transform: (piece: Buffer, _encoding, done) => {
        this.#bytes += piece.length;
        done(null, piece);
      },
    });
    this.#written = pipeline(this.#zip.outputStream, counted, destination);
    // After an error of the destination, the file being added is no longer read, so that `add`
    // would never return. Destroying its source ends it.
    this.#written.catch((error: unknown) =>
      this.#source?.destroy(error instanceof Error ? error : new Error(String(error))),
    );
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

  /** Bytes of the ZIP written so far. */
  get size(): number {
    return this.#bytes;
  }

  /**
   * Adds a file. On return its content was read to the end.
   * @throws errors of `content` and of the destination; Error if the name exists
   */
  async add(name: string, content: Content): Promise<void> {
    if (this.#destination.errored !== null) throw this.#destination.errored;
    if (this.#digests.has(name)) throw new Error(`the package holds ${name} already`);
    const source = Readable.from(this.#hashed(name, content), { objectMode: false });
    this.#zip.addReadStream(source, name, {
      mtime: this.time,
      mode: PACKAGE_FILE_MODE,
      compressionLevel: COMPRESSION_LEVEL,
    });
    this.#source = source;
    await finished(source);
  }

  async *#hashed(name: string, content: Content): AsyncGenerator<Buffer, void> {
    const digest = sha256Stream();
    for await (const piece of content) {
      digest.update(piece);
      if (piece.length > 0) yield Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    }
    this.#digests.set(name, toHex(digest.digest()));
  }

  /**
   * Ends the ZIP. On return the stream has received all of it, or it is on disk under its temporary
   * name.
   */
  async end(): Promise<void> {
    this.#zip.end();
    await this.#written;
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
    this.#destination.destroy(new Error('the package is discarded'));
    await this.#written.catch(() => undefined);
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
