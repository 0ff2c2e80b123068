import { HASH_LENGTH } from '../../../schemas/merkle/hashing.js';
import { Frontier } from '../../../schemas/merkle/tree.js';

/** The leaf hashes of a batch, packed into one run of bytes, with the root over them. */
export class LeafList {
  #bytes = new Uint8Array(HASH_LENGTH * 256);
  readonly #frontier = new Frontier();

  get length(): number {
    return this.#frontier.size;
  }

  get byteLength(): number {
    return this.#bytes.length;
  }

  push(leaf: Uint8Array): void {
    const start = this.length * HASH_LENGTH;
    if (start === this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(leaf, start);
    this.#frontier.append(leaf);
  }

  /**
   * Whether this hash is at this index, which is below `length`.
   * @param hash 64 lower-case hex digits
   */
  holds(index: number, hash: string): boolean {
    const start = index * HASH_LENGTH;
    for (let i = 0; i < HASH_LENGTH; i += 1) {
      const octet = (digitOf(hash.charCodeAt(2 * i)) << 4) | digitOf(hash.charCodeAt(2 * i + 1));
      if (octet !== this.#bytes[start + i]) return false;
    }
    return true;
  }

  /** The hash at this index, which is below `length`. */
  at(index: number): Uint8Array {
    return this.#bytes.subarray(index * HASH_LENGTH, (index + 1) * HASH_LENGTH);
  }

  root(): Uint8Array {
    return this.#frontier.root();
  }
}

/** Of a hex digit. */
function digitOf(code: number): number {
  return code < 0x3a ? code - 0x30 : code - 0x57;
}
