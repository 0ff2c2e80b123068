import { HASH_LENGTH } from '../../../schemas/merkle/hashing.js';
import { Frontier } from '../../../schemas/merkle/tree.js';
import { HashList } from './hash-list.js';

/** The leaf hashes of a batch with the root over them. */
export class LeafList {
  readonly #hashes = new HashList();
  readonly #frontier = new Frontier();

  get length(): number {
    return this.#hashes.length;
  }

  get byteLength(): number {
    return this.#hashes.byteLength;
  }

  push(leaf: Uint8Array): void {
    this.#hashes.push(leaf);
    this.#frontier.append(leaf);
  }

  /**
   * Whether this hash is at this index, which is below `length`.
   * @param hash 64 lower-case hex digits
   */
  holds(index: number, hash: string): boolean {
    const own = this.#hashes.at(index);
    for (let i = 0; i < HASH_LENGTH; i += 1) {
      const octet = (digitOf(hash.charCodeAt(2 * i)) << 4) | digitOf(hash.charCodeAt(2 * i + 1));
      if (octet !== own?.[i]) return false;
    }
    return true;
  }

  /** The hash at this index, which is below `length`. */
  at(index: number): Uint8Array {
    return this.#hashes.at(index) ?? new Uint8Array();
  }

  root(): Uint8Array {
    return this.#frontier.root();
  }
}

/** Value of a hex digit. */
function digitOf(code: number): number {
  return code < 0x3a ? code - 0x30 : code - 0x57;
}
