import { HASH_LENGTH } from '../../../schemas/merkle/hashing.js';

/** Number of values per chunk. Chunks are never copied when the list grows. */
const CHUNK = 256;

/** A list for millions of 32-byte values. As separate objects, they would take six times as much memory. */
export class HashList {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Number of bytes of memory that the values take. */
  get byteLength(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  /**
   * Adds a value.
   * @param hash 32 bytes, which are copied
   * @throws RangeError after `trim`, unless the last chunk is full
   */
  push(hash: Uint8Array): void {
    const place = this.#length % CHUNK;
    if (place === 0) this.#chunks.push(new Uint8Array(CHUNK * HASH_LENGTH));
    this.#chunks.at(-1)?.set(hash, place * HASH_LENGTH);
    this.#length += 1;
  }

  /** The value at an index, or undefined beyond the last one. */
  at(index: number): Uint8Array | undefined {
    if (index >= this.#length) return undefined;
    const start = (index % CHUNK) * HASH_LENGTH;
    return this.#chunks[Math.floor(index / CHUNK)]?.subarray(start, start + HASH_LENGTH);
  }

  /** Releases the unused memory of the last chunk. Nothing may be added afterwards. */
  trim(): void {
    const last = this.#chunks.pop();
    const used = this.#length * HASH_LENGTH - this.#chunks.length * CHUNK * HASH_LENGTH;
    if (last !== undefined) this.#chunks.push(last.slice(0, used));
  }
}
