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

  /** The hash at this index, which is below `length`. */
  at(index: number): Uint8Array {
    return this.#bytes.subarray(index * HASH_LENGTH, (index + 1) * HASH_LENGTH);
  }

  root(): Uint8Array {
    return this.#frontier.root();
  }
}
