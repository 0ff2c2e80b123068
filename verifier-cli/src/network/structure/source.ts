import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withoutTrailing } from '../../../../schemas/text/without-trailing.js';
import { UsageError } from '../../cli/usage-error.js';
import { Unreachable } from '../bounded-fetch.js';
import { codeOf } from '../durable-file.js';
import { type HttpOptions, openUrl } from './open-url.js';

/** The published structure of a ledger, at a service, at a static host or in a folder. */
export interface StructureSource {
  /** The URL or the folder, as readable text. */
  readonly name: string;
  /**
   * Opens a file.
   * @param path below `/checkpoints/`
   * @returns its bytes in pieces, or null if it is not published
   * @throws Unreachable if there is no usable response, including while the pieces are read
   */
  open(path: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Returns the same source, whose requests end when the signal is aborted. */
  until(signal: AbortSignal): StructureSource;
}

/**
 * @param location URL of a service or a static host, with or without `/checkpoints/`; a `file:` URL or a
 *   path of a folder that was exported
 * @throws UsageError for a URL of another scheme, or a folder that does not exist
 */
export async function openSource(
  location: string,
  { timeoutMs = 20_000, ...options }: Partial<HttpOptions> = {},
): Promise<StructureSource> {
  if (/^https?:/i.test(location) && URL.canParse(location)) {
    const prefix = `${withoutTrailing(location, '/').replace(/\/checkpoints$/, '')}/checkpoints`;
    return urlSource(prefix, { ...options, timeoutMs });
  }
  const isFile = /^file:/i.test(location) && URL.canParse(location);
  if (!isFile && /^[a-z][a-z0-9+.-]+:/i.test(location))
    throw new UsageError(`“${location}” is not a URL: write it with http://, https:// or file://`);
  const folder = isFile ? fileURLToPath(location) : location;
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true) throw new UsageError(`${folder} is not a folder with an exported structure`);
  const nested = join(folder, 'checkpoints');
  const hasNested = (await stat(nested).catch(() => null))?.isDirectory() === true;
  return folderSource(hasNested ? nested : folder);
}

function urlSource(prefix: string, options: HttpOptions): StructureSource {
  return {
    name: prefix,
    open: (path) => openUrl(`${prefix}/${path}`, options),
    until: (signal) => urlSource(prefix, { ...options, signal }),
  };
}

function folderSource(folder: string): StructureSource {
  return {
    name: folder,
    until: () => folderSource(folder),
    async open(path) {
      const file = join(folder, ...path.split('/'));
      if (!file.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return null;
      try {
        if (!(await stat(file)).isFile()) return null;
      } catch (error) {
        if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
        throw new Unreachable(`${file} cannot be read: ${error instanceof Error ? error.message : 'unknown error'}`);
      }
      return filePieces(file);
    },
  };
}

async function* filePieces(file: string): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const piece of createReadStream(file)) {
      if (!(piece instanceof Uint8Array)) throw new TypeError('a file is made of bytes');
      yield piece;
    }
  } catch (error) {
    throw new Unreachable(`${file} cannot be read: ${error instanceof Error ? error.message : 'unknown error'}`);
  }
}

/**
 * Reads a file into memory.
 * @param maxBytes number of bytes after which reading stops
 * @returns null if it is not published, or is longer
 */
export async function readWhole(source: StructureSource, path: string, maxBytes: number): Promise<Uint8Array | null> {
  const opened = await source.open(path);
  if (opened === null) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const piece of opened) {
    size += piece.length;
    if (size > maxBytes) return null;
    chunks.push(piece);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
