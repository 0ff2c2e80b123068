import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { PROOF_LIMITS } from '../../../schemas/evidence/proof-limits.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
import type { Finding } from '../findings/finding.js';

/** Content of a batch's file in memory, or the reason why the file was refused. */
interface Kept {
  /** Memory of the content, in bytes. */
  readonly bytes: number;
}

/** How the files of one kind are read. */
export interface FileKind<T extends Kept> {
  /** Name of the file of a batch. */
  readonly nameOf: (number: number) => string;
  readonly read: (number: number) => Promise<T>;
  /** Creates the entry that replaces a file that is not read. */
  readonly refused: (reason: Finding) => T;
  /** Maximum number of bytes that are read in total, in addition to an allowance per byte of the entries. */
  readonly bytes: number;
  /** How often a file may be read. */
  readonly loads: number;
  /** Largest file, in bytes; if absent, `read` decides. */
  readonly fileBytes?: number;
  readonly texts: {
    readonly tooOften: Finding;
    readonly tooMany: Finding;
    readonly tooLarge: Finding;
  };
}

/**
 * Reads the proof files of batches on demand, and keeps the most recently used ones within a memory budget. The total
 * number of bytes read is also limited: a small package whose proofs unpack to gigabytes, or whose entries jump between
 * batches, must not take hours.
 */
export class FileCache<T extends Kept> {
  /** Entries in the order of their last use. */
  readonly #loaded = new Map<number, T>();
  readonly #loads = new Map<number, number>();
  #bytes = 0;
  /** Number of bytes of files that may still be read. */
  #allowance: number;

  constructor(
    readonly files: PackageFiles,
    readonly kind: FileKind<T>,
  ) {
    const entryBytes = files.archive.get(PACKAGE_FILES.entries)?.size ?? 0;
    this.#allowance = kind.bytes + PROOF_LIMITS.bytesPerEntryByte * entryBytes;
  }

  /** Returns the content of a file from memory, without marking it as most recently used. */
  peek(number: number): T | undefined {
    return this.#loaded.get(number);
  }

  /** Returns the content of a file from memory, and marks it as most recently used. */
  use(number: number): T | undefined {
    const kept = this.#loaded.get(number);
    if (kept === undefined) return undefined;
    this.#loaded.delete(number);
    this.#loaded.set(number, kept);
    return kept;
  }

  /** Whether a file was read, or refused, at least once. */
  wasRead(number: number): boolean {
    return this.#loads.has(number);
  }

  /** Loads files that are needed together, so that none of them evicts another. */
  async load(...numbers: readonly number[]): Promise<void> {
    for (const number of numbers) {
      if (this.use(number) !== undefined) continue;
      const kept = this.#refusal(number) ?? (await this.kind.read(number));
      this.#loaded.set(number, kept);
      this.#bytes += kept.bytes;
    }
    for (const [oldest, { bytes }] of this.#loaded) {
      if (this.#bytes <= LIMITS.proofCacheBytes || numbers.includes(oldest)) break;
      this.#loaded.delete(oldest);
      this.#bytes -= bytes;
    }
  }

  /** Counts a read of a file. Returns the entry that replaces the file if it is refused, or null if it may be read. */
  #refusal(number: number): T | null {
    const { refused, texts, nameOf, loads: allowed, fileBytes = Number.POSITIVE_INFINITY } = this.kind;
    const loads = (this.#loads.get(number) ?? 0) + 1;
    this.#loads.set(number, loads);
    if (loads > allowed) return refused(texts.tooOften);
    const file = nameOf(number);
    const size = this.files.archive.get(file)?.size ?? 0;
    if (size <= this.#allowance && size <= fileBytes) {
      this.#allowance -= size;
      return null;
    }
    this.files.findings.fail('container.limits', texts.tooMany, { file });
    return refused(texts.tooLarge);
  }
}
