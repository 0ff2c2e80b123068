import type * as z from 'zod';
import { sha256Stream } from '../../../schemas/crypto/digest.js';
import { concatBytes, toHex } from '../../../schemas/crypto/encoding.js';
import { MAX_LINE_BYTES } from '../../../schemas/evidence/package-lines.js';
import { type Archive, type ArchiveFile, ContentMismatch, contentOf } from '../container/archive.js';
import type { ByteSource } from '../container/byte-source.js';
import { LIMITS } from '../container/limits.js';
import type { FailingCheck } from '../findings/checks.js';
import { type Finding, finding } from '../findings/finding.js';
import { Findings } from '../findings/findings.js';
import { WORK, type WorkMeter } from '../work/work-meter.js';
import { LINE_FEED, LineBlock, splitLines, tooLong } from './lines.js';
import { type Parsed, parseShape } from './parse.js';

/** Reads the line of a block from `start` to its LF at `end`. */
export type LineReader<T> = (block: LineBlock, start: number, end: number) => Read<T>;

export type Read<T> = Omit<Extract<Parsed<T>, { ok: true }>, 'json'> | Extract<Parsed<T>, { ok: false }>;

/** Reads lines by their schema alone. */
export function readerOf<T>(schema: z.ZodType<T>): LineReader<T> {
  return ({ bytes }, start, end) =>
    end - start > MAX_LINE_BYTES
      ? { ok: false, reason: tooLong(MAX_LINE_BYTES) }
      : parseShape(schema, bytes.subarray(start, end));
}

/**
 * The files of a package, read on demand. A file that is read to its end is hashed while it is read, so comparing its
 * digest with the manifest needs no second read.
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
    /** Counts the work on all files of the package, however often they are read. */
    readonly work: WorkMeter,
  ) {}

  /**
   * Returns the same files for a further read that reports no problems, because the problems are reported elsewhere.
   */
  unreported(): PackageFiles {
    return new PackageFiles(this.source, this.archive, new Findings(), () => undefined, this.work);
  }

  has(name: string): boolean {
    return this.archive.has(name);
  }

  /** SHA-256 in hex of a file that was read to its end, or null if it was not, or could not be. */
  digestOf(name: string): string | null {
    return this.#digests.get(name) ?? null;
  }

  /**
   * The content in pieces. It ends early if the file is broken, which `container.content` reports once, or if the
   * package exceeds the limit of work.
   */
  async *pieces(name: string): AsyncGenerator<Uint8Array, void> {
    const file = this.archive.get(name);
    if (file === undefined) return;
    const isFirst = !this.#digests.has(name) && !this.#broken.has(name);
    const digest = sha256Stream();
    try {
      for await (const piece of contentOf(this.source, file)) {
        if (!this.work.take(WORK.byte * piece.length)) {
          this.#broken.add(name);
          return;
        }
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

  /** The whole content, or null if the file is missing, larger than `maxBytes`, or broken. */
  async bytes(name: string, maxBytes: number = LIMITS.smallFileBytes): Promise<Uint8Array | null> {
    const file = this.archive.get(name);
    if (file === undefined) return null;
    if (file.size > maxBytes) {
      this.findings.fail('container.limits', finding('file-too-large', { limit: maxBytes }), { file: name });
      return null;
    }
    const parts: Uint8Array[] = [];
    for await (const piece of this.pieces(name)) parts.push(piece);
    return this.#broken.has(name) ? null : concatBytes(...parts);
  }

  /** The lines of an NDJSON file, each parsed by its schema: see `blocks`. */
  async *lines<T>(
    name: string,
    schema: z.ZodType<T>,
    check: FailingCheck,
  ): AsyncGenerator<{ line: number; value: T }, void> {
    for await (const block of this.blocks(name, readerOf(schema), check)) yield* block;
  }

  /**
   * Yields the parsed lines of an NDJSON file in blocks, because awaiting each of a million lines would be too slow. An
   * invalid line fails `check` and is skipped. Reading ends early when so much is wrong with the package that
   * continuing would be a waste of time.
   */
  async *blocks<T>(
    name: string,
    read: LineReader<T>,
    check: FailingCheck,
  ): AsyncGenerator<Iterable<{ line: number; value: T }>, void> {
    for await (const block of splitLines(this.pieces(name), MAX_LINE_BYTES)) {
      if (this.#isGivingUp()) return;
      if (block instanceof LineBlock) yield this.#linesOf(block, name, read, check);
      else this.#refuseLine(check, block.reason, name, block.number);
    }
  }

  *#linesOf<T>(
    block: LineBlock,
    name: string,
    read: LineReader<T>,
    check: FailingCheck,
  ): Generator<{ line: number; value: T }, void> {
    const { bytes } = block;
    let line = block.number;
    for (let start = 0; start < bytes.length; line += 1) {
      if (this.#isGivingUp()) return;
      const end = bytes.indexOf(LINE_FEED, start);
      const parsed = read(block, start, end);
      if (parsed.ok) yield { line, value: parsed.value };
      else this.#refuseLine(check, parsed.reason, name, line);
      start = end + 1;
    }
  }

  #refuseLine(check: FailingCheck, reason: Finding, file: string, line: number): void {
    this.findings.fail(check, finding('line-unreadable', { reason }), { file, line });
  }

  /** Returns the digest of a file, reading the file if that has not happened yet. */
  async digest(name: string): Promise<string | null> {
    if (!this.#digests.has(name) && !this.#broken.has(name)) {
      for await (const _ of this.pieces(name));
    }
    return this.digestOf(name);
  }

  #isGivingUp(): boolean {
    if (this.findings.failures < LIMITS.failures) return false;
    if (!this.#isGivenUp) {
      this.#isGivenUp = true;
      const message = finding('too-many-failures', { limit: LIMITS.failures });
      this.findings.fail('container.limits', message);
    }
    return true;
  }

  #report(file: ArchiveFile, error: ContentMismatch): void {
    this.#broken.add(file.name);
    this.findings.fail('container.content', error.found, { file: file.name });
  }
}
