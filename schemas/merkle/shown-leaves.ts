import { HASH_LENGTH, MAX_TREE_SIZE, nodeHash } from './hashing.js';
import { foldFrontier } from './tree.js';

/** A leaf of a tree that a proof shows. */
export interface ShownLeaf {
  /** Place of the leaf, from 0. */
  readonly index: number;
  /** Leaf hash, 32 bytes. */
  readonly hash: Uint8Array;
}

/** The leaves that a proof shows. There may be millions, too many for an object each. */
export interface ShownLeaves {
  readonly length: number;
  /** Place in the tree of the shown leaf at a position, from 0, or undefined beyond the last one. */
  readonly placeAt: (position: number) => number | undefined;
  /** Leaf hash, 32 bytes. It is requested once. */
  readonly hashAt: (position: number) => Uint8Array;
}

/** Hashes in order, for example an array. */
export interface Hashes {
  readonly length: number;
  readonly at: (position: number) => Uint8Array | undefined;
}

/**
 * Returns whether no leaf of a sorted tree lies between two shown leaves, so that whatever would sort between them is
 * absent (RFC 9162 trees on their own only prove presence).
 * @param before index of the last shown leaf before the position, or undefined if none
 * @param next index of the first shown leaf after it, or undefined if none
 * @param size number of leaves of the tree
 */
export function areAdjacent(before: number | undefined, next: number | undefined, size: number): boolean {
  return (next ?? size) === (before ?? -1) + 1;
}

/** Maximum number of leaves of a tree for a proof: beyond it, indexes are not exact. */
const MOST_LEVELS = 53;

/**
 * The root of a tree (RFC 9162 §2.1.1) from some of its leaves and the roots of all largest subtrees that hold none of
 * them, from left to right. Never throws, because every input may be hostile.
 * @param size number of leaves of the tree
 * @param shown leaves with strictly increasing indexes
 * @param hashes 32 bytes each; every one must be used
 * @returns the root, 32 bytes, or null if there are too few or too many hashes, or the leaves are not in order
 */
export function rootOfShown(size: number, shown: readonly ShownLeaf[], hashes: Hashes): Uint8Array | null {
  return rootOfShownLeaves(size, leavesOf(shown), hashes);
}

/** `rootOfShown` for leaves that are not in an array. */
export function rootOfShownLeaves(size: number, shown: ShownLeaves, hashes: Hashes): Uint8Array | null {
  if (!Number.isSafeInteger(size) || size <= 0 || size > MAX_TREE_SIZE) return null;
  let before = -1;
  for (let position = 0; position < shown.length; position += 1) {
    const index = shown.placeAt(position) ?? NOWHERE;
    if (!Number.isSafeInteger(index) || index <= before || index >= size) return null;
    before = index;
  }
  const reader = { shown, hashes, nextShown: 0, nextHash: 0 };
  const root = rootOfRange(reader, 0, size);
  return reader.nextHash === hashes.length ? root : null;
}

interface Reader {
  readonly shown: ShownLeaves;
  readonly hashes: Hashes;
  nextShown: number;
  nextHash: number;
}

/** A place beyond all leaves. */
const NOWHERE = Number.POSITIVE_INFINITY;

function leavesOf(shown: readonly ShownLeaf[]): ShownLeaves {
  return {
    length: shown.length,
    placeAt: (position) => shown[position]?.index,
    hashAt: (position) => shown[position]?.hash ?? new Uint8Array(),
  };
}

/** Place of the next leaf that is shown. */
function nextPlace({ shown, nextShown }: Reader): number {
  return shown.placeAt(nextShown) ?? NOWHERE;
}

/** The root over leaves [start, end). The depth is at most the height of the tree. */
function rootOfRange(reader: Reader, start: number, end: number): Uint8Array | null {
  if (nextPlace(reader) >= end) {
    const hash = reader.hashes.at(reader.nextHash);
    reader.nextHash += 1;
    return hash?.length === HASH_LENGTH ? hash : null;
  }
  if (end - start === 1) {
    const hash = reader.shown.hashAt(reader.nextShown);
    reader.nextShown += 1;
    return hash.length === HASH_LENGTH ? hash : null;
  }
  const middle = start + splitPoint(end - start);
  const left = rootOfRange(reader, start, middle);
  const right = left === null ? null : rootOfRange(reader, middle, end);
  return left === null || right === null ? null : nodeHash(left, right);
}

/**
 * Reduces the proof to some of its shown leaves.
 * @param keep indexes of the leaves that remain shown, at least one
 * @returns the hashes beside them, or null if the given proof is not one
 */
export function fewerShown(
  size: number,
  shown: readonly ShownLeaf[],
  hashes: readonly Uint8Array[],
  keep: ReadonlySet<number>,
): readonly Uint8Array[] | null {
  if (rootOfShown(size, shown, hashes) === null) return null;
  const reader = { shown: leavesOf(shown), hashes, nextShown: 0, nextHash: 0 };
  const beside = (start: number, end: number): { hash: Uint8Array; beside: readonly Uint8Array[] | null } => {
    const next = nextPlace(reader);
    if (next >= end || end - start === 1) {
      const isKept = next < end && keep.has(next);
      return { hash: rootOfRange(reader, start, end) ?? new Uint8Array(), beside: isKept ? [] : null };
    }
    const middle = start + splitPoint(end - start);
    const left = beside(start, middle);
    const right = beside(middle, end);
    return joined({ level: 0, ...left }, { level: 0, ...right }, 0);
  };
  return beside(0, size).beside;
}

/** Largest power of two below n, n > 1. */
function splitPoint(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/** A perfect subtree on the frontier of the tree read so far. */
interface Subtree {
  readonly level: number;
  readonly hash: Uint8Array;
  /** The hashes next to the shown leaves in it, from left to right, or null if it has no shown leaf. */
  readonly beside: readonly Uint8Array[] | null;
}

/**
 * Computes the hashes that `rootOfShown` needs, in one pass over the leaves of a tree. Memory is proportional to the
 * number of shown leaves and the height of the tree.
 */
export class ShownLeavesProof {
  readonly #frontier: Subtree[] = [];
  #size = 0;

  /** Number of leaves so far. */
  get size(): number {
    return this.#size;
  }

  /** Adds the next leaf. @param isShown whether the proof shows it */
  append(hash: Uint8Array, isShown: boolean): void {
    let subtree: Subtree = { level: 0, hash, beside: isShown ? [] : null };
    for (;;) {
      const left = this.#frontier.at(-1);
      if (left?.level !== subtree.level) break;
      this.#frontier.pop();
      subtree = joined(left, subtree, left.level + 1);
    }
    if (this.#frontier.length >= MOST_LEVELS) throw new RangeError('the tree has too many leaves');
    this.#frontier.push(subtree);
    this.#size += 1;
  }

  /** Root of the tree, 32 bytes. */
  root(): Uint8Array {
    return foldFrontier(this.#frontier.map(({ hash }) => hash));
  }

  /** The hashes beside the shown leaves. If no leaf is shown, this is the root alone; without leaves, it is empty. */
  hashes(): readonly Uint8Array[] {
    const [first, ...rest] = [...this.#frontier].reverse();
    if (first === undefined) return [];
    const whole = rest.reduce((right, left) => joined(left, right, left.level), first);
    return whole.beside ?? [whole.hash];
  }
}

function joined(left: Subtree, right: Subtree, level: number): Subtree {
  const hash = nodeHash(left.hash, right.hash);
  if (left.beside === null && right.beside === null) return { level, hash, beside: null };
  return { level, hash, beside: [...(left.beside ?? [left.hash]), ...(right.beside ?? [right.hash])] };
}
