import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withoutTrailing } from '../../../../schemas/text/without-trailing.js';
import { UsageError } from '../../cli/usage-error.js';
import { Unreachable } from '../bounded-fetch.js';
import { codeOf } from '../durable-file.js';

/** The published structure of a ledger, at a service, at a static host or in a folder. */
export interface StructureSource {
  /** For people: the URL or the folder. */
  readonly name: string;
  /**
   * Opens a file.
   * @param path below `/checkpoints/`
   * @returns its bytes in pieces; null if it is not published
   * @throws Unreachable if there is no usable answer, also while the pieces are read
   */
  open(path: string): Promise<AsyncIterable<Uint8Array> | null>;
}

export interface SourceOptions {
  /** Bearer token for a structure that is restricted to auditors. */
  readonly token?: string | undefined;
  /** Milliseconds without a byte after which a request fails. */
  readonly timeoutMs?: number;
}

/**
 * @param location URL of a service or a static host, with or without `/checkpoints/`; a `file:` URL or a
 *   path of a folder that was exported
 * @throws UsageError for a URL of another scheme, or a folder that does not exist
 */
export async function openSource(
  location: string,
  { token, timeoutMs = 20_000 }: SourceOptions = {},
): Promise<StructureSource> {
  if (/^https?:/i.test(location) && URL.canParse(location)) return httpSource(location, token, timeoutMs);
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

function folderSource(folder: string): StructureSource {
  return {
    name: folder,
    async open(path) {
      const file = join(folder, ...path.split('/'));
      if (!file.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return null;
      try {
        if (!(await stat(file)).isFile()) return null;
      } catch (error) {
        if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
        throw new Unreachable(`${file} cannot be read: ${error instanceof Error ? error.message : 'unknown error'}`);
      }
      return pieces(createReadStream(file), file);
    },
  };
}

function httpSource(base: string, token: string | undefined, timeoutMs: number): StructureSource {
  const prefix = `${withoutTrailing(base, '/').replace(/\/checkpoints$/, '')}/checkpoints`;
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return {
    name: prefix,
    async open(path) {
      const url = `${prefix}/${path}`;
      const stopping = new AbortController();
      let timer = setTimeout(() => stopping.abort(), timeoutMs);
      const onPiece = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => stopping.abort(), timeoutMs);
      };
      try {
        const response = await fetch(url, { redirect: 'manual', signal: stopping.signal, headers });
        if (response.status === 200) return pieces(response.body ?? [], url, onPiece, () => clearTimeout(timer));
        clearTimeout(timer);
        await response.body?.cancel();
        if (response.status === 404 || response.status === 410) return null;
        throw new Unreachable(`${url} answered HTTP ${response.status}`);
      } catch (error) {
        clearTimeout(timer);
        throw unreachable(url, error);
      }
    },
  };
}

async function* pieces(
  source: AsyncIterable<unknown> | Iterable<unknown>,
  name: string,
  onPiece: () => void = () => undefined,
  onEnd: () => void = () => undefined,
): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const piece of source) {
      if (!(piece instanceof Uint8Array)) throw new TypeError('a file is made of bytes');
      onPiece();
      yield piece;
    }
  } catch (error) {
    throw unreachable(name, error);
  } finally {
    onEnd();
  }
}

function unreachable(name: string, error: unknown): Unreachable {
  if (error instanceof Unreachable) return error;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return new Unreachable(`${name} cannot be read: ${cause instanceof Error ? cause.message : 'unknown error'}`);
}

/**
 * Reads a file into memory.
 * @param maxBytes of which no more is read
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
