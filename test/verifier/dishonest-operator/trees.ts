import { concat, sha256 } from './primitives.js';

export function leafHash(content: Uint8Array): Uint8Array {
  return sha256(concat(new Uint8Array([0]), content));
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concat(new Uint8Array([1]), left, right));
}

/** Largest power of two below n, n > 1. */
function split(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/**
 * A tree of RFC 9162 §2.1, by its recursive definitions over ranges of leaves. Roots of ranges are
 * kept, because paths share them.
 */
export class Tree {
  readonly #roots = new Map<number, Uint8Array>();

  constructor(readonly leaves: readonly Uint8Array[]) {}

  /** Merkle tree hash (§2.1.1). @param size of its first leaves only */
  root(size: number = this.leaves.length): Uint8Array {
    return size === 0 ? sha256('') : this.#range(0, size);
  }

  /** Inclusion path from the leaf's sibling upwards, in the tree of the first `size` leaves (§2.1.3.1). */
  inclusion(index: number, size: number = this.leaves.length): readonly Uint8Array[] {
    const walk = (start: number, end: number): readonly Uint8Array[] => {
      if (end - start <= 1) return [];
      const middle = start + split(end - start);
      return index < middle
        ? [...walk(start, middle), this.#range(middle, end)]
        : [...walk(middle, end), this.#range(start, middle)];
    };
    return walk(0, size);
  }

  /** Consistency proof between the first `from` and the first `to` leaves (§2.1.4.1). */
  consistency(from: number, to: number): readonly Uint8Array[] {
    const walk = (start: number, end: number, isWhole: boolean): readonly Uint8Array[] => {
      if (from === end) return isWhole ? [] : [this.#range(start, end)];
      const middle = start + split(end - start);
      return from <= middle
        ? [...walk(start, middle, isWhole), this.#range(middle, end)]
        : [...walk(middle, end, false), this.#range(start, middle)];
    };
    return walk(0, to, true);
  }

  /** The roots of all largest subtrees that contain none of the shown leaves, from left to right. */
  besides(shown: ReadonlySet<number>): readonly Uint8Array[] {
    const indexes = [...shown];
    const walk = (start: number, end: number): readonly Uint8Array[] => {
      if (!indexes.some((index) => index >= start && index < end)) return [this.#range(start, end)];
      if (end - start === 1) return [];
      const middle = start + split(end - start);
      return [...walk(start, middle), ...walk(middle, end)];
    };
    return this.leaves.length === 0 ? [] : walk(0, this.leaves.length);
  }

  #range(start: number, end: number): Uint8Array {
    if (end - start === 1) {
      const leaf = this.leaves[start];
      if (leaf === undefined) throw new RangeError(`the tree has no leaf ${start}`);
      return leaf;
    }
    const key = start * 2 ** 24 + end;
    const known = this.#roots.get(key);
    if (known !== undefined) return known;
    const middle = start + split(end - start);
    const root = nodeHash(this.#range(start, middle), this.#range(middle, end));
    this.#roots.set(key, root);
    return root;
  }
}
