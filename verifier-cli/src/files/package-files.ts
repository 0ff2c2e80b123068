import type { z } from 'zod';
import { sha256Stream } from '../../../schemas/crypto/digest.js';
import { concatBytes, toHex } from '../../../schemas/crypto/encoding.js';
import { MAX_LINE_BYTES } from '../../../schemas/evidence/package-lines.js';
import { type Archive, type ArchiveFile, ContentMismatch, contentOf } from '../container/archive.js';
import type { ByteSource } from '../container/byte-source.js';
import { LIMITS } from '../container/limits.js';
import type { CheckId } from '../findings/check-table.js';
import type { Findings } from '../findings/findings.js';
import { splitLines } from './lines.js';
import { parseShape } from './parse.js';

/**
 * The files of a package, read on demand. Whatever is read to its end is hashed on the way, so that a file is read once even though its digest
 * is compared with the manifest as well.
 */
export class PackageFiles {
  readonly #digests = new Map<string, string>();
  readonly #broken = new Set<string>();
  #isGivenUp = false;

  constructor(
    readonly source: ByteSource,
    readonly archive: Archive,
    readonly findings: Findings,
    readonly progress: (bytes: number) => void,
  ) {}

  has(name: string): boolean {
    return this.archive.has(name);
  }

  /** SHA-256 in hex of a file that was read to its end; null if it was not, or could not be. */
  digestOf(name: string): string | null {
    return this.#digests.get(name) ?? null;
  }

  /** The content in pieces. It ends early where the file is broken, which `container.content` reports, once. */
  async *pieces(name: string): AsyncGenerator<Uint8Array, void> {
    const file = this.archive.get(name);
    if (file === undefined) return;
    const isFirst = !this.#digests.has(name) && !this.#broken.has(name);
    const digest = sha256Stream();
    try {
      for await (const piece of contentOf(this.source, file)) {
        if (isFirst) {
          digest.update(piece);
          this.progress(piece.length);
        }
        yield piece;
      }
    } catch (error) {
      if (!(error instanceof ContentMismatch)) throw error;
      if (isFirst) this.#report(file, error);
      return;
    }
    if (!isFirst) return;
    this.#digests.set(name, toHex(digest.digest()));
    this.findings.pass('container.content');
  }

  /** The whole content; null if the file is missing, larger than `maxBytes`, or broken. */
  async bytes(name: string, maxBytes: number = LIMITS.smallFileBytes): Promise<Uint8Array | null> {
    const file = this.archive.get(name);
    if (file === undefined) return null;
    if (file.size > maxBytes) {
      this.findings.fail('container.limits', `it is larger than the ${maxBytes} bytes allowed for it`, { file: name });
      return null;
    }
    const parts: Uint8Array[] = [];
    for await (const piece of this.pieces(name)) parts.push(piece);
    return this.#broken.has(name) ? null : concatBytes(...parts);
  }

  /**
   * The lines of an NDJSON file, each parsed. A line that is not what it should be fails `check`, and is left out. It ends early once so much
   * is wrong with the package that reading on would only cost time.
   */
  async *lines<T>(
    name: string,
    schema: z.ZodType<T>,
    check: CheckId,
  ): AsyncGenerator<{ line: number; value: T }, void> {
    for await (const line of splitLines(this.pieces(name), MAX_LINE_BYTES)) {
      if (this.findings.failures >= LIMITS.failures) {
        this.#giveUp();
        return;
      }
      const parsed = line.ok ? parseShape(schema, line.bytes) : line;
      if (parsed.ok) yield { line: line.number, value: parsed.value };
      else this.findings.fail(check, `the line cannot be read: ${parsed.reason}`, { file: name, line: line.number });
    }
  }

  /** Reads a file for its digest alone, unless it was read before. */
  async digest(name: string): Promise<string | null> {
    if (!this.#digests.has(name) && !this.#broken.has(name)) {
      for await (const _ of this.pieces(name));
    }
    return this.digestOf(name);
  }

  #giveUp(): void {
    if (this.#isGivenUp) return;
    this.#isGivenUp = true;
    const message = `more than ${LIMITS.failures} things are wrong with the package: the rest of its lines was not checked`;
    this.findings.fail('container.limits', message);
  }

  #report(file: ArchiveFile, error: ContentMismatch): void {
    this.#broken.add(file.name);
    this.findings.fail('container.content', error.message, { file: file.name });
  }
}
