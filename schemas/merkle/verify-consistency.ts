import { equalBytes } from '../crypto/encoding.js';
import { HASH_LENGTH, nodeHash } from './hashing.js';
import { foldFrontier, frontierNodes } from './tree.js';
import { half, isOdd, isTreeNumber, type ProofVerdict, type Refused, refuse } from './verify-inclusion.js';

/**
 * Verifies that the tree of size `second` extends the one of size `first` (RFC 9162 §2.1.4.2). Never throws, because
 * every input may be hostile. Nothing is consistent with a tree without leaves, which commits to nothing.
 */
export function verifyConsistency(
  first: number,
  second: number,
  firstRoot: Uint8Array,
  secondRoot: Uint8Array,
  path: readonly Uint8Array[],
): ProofVerdict {
  if (!isTreeNumber(first) || !isTreeNumber(second)) return refuse('the sizes must be integers below 2^53');
  if (first > second) return refuse('the first size is larger than the second');
  if ([firstRoot, secondRoot, ...path].some((hash) => hash.length !== HASH_LENGTH)) {
    return refuse('a hash is not 32 bytes long');
  }
  if (first === 0) return refuse('the first size is 0');
  if (first === second) {
    if (path.length > 0) return refuse('the path must be empty');
    return equalBytes(firstRoot, secondRoot)
      ? { ok: true }
      : refuse('the two checkpoints have one size but different roots');
  }
  if (path.length === 0) return refuse('the path is empty');

  const walked = walk(first, second, firstRoot, path);
  if ('reason' in walked) return walked;
  if (!equalBytes(walked.first, firstRoot)) return refuse('the path does not lead to the first root');
  if (!equalBytes(walked.second, secondRoot)) return refuse('the path does not lead to the second root');
  return { ok: true };
}

/**
 * Returns the root of the first `first` leaves of a tree of size `second`, as proved by a consistency path that is
 * valid for that tree. A checkpoint of that size with another root was never part of the tree. If `first` is a power of
 * two, the path does not tell.
 * @returns null if the path does not prove it
 */
export function provedPrefixRoot(
  first: number,
  second: number,
  secondRoot: Uint8Array,
  path: readonly Uint8Array[],
): Uint8Array | null {
  if (!isTreeNumber(first) || !isTreeNumber(second) || first < 1 || first >= second || isPowerOfTwo(first)) return null;
  if (path.length === 0 || [secondRoot, ...path].some((hash) => hash.length !== HASH_LENGTH)) return null;
  const walked = walk(first, second, new Uint8Array(HASH_LENGTH), path);
  return 'reason' in walked || !equalBytes(walked.second, secondRoot) ? null : walked.first;
}

/**
 * The audit path of a leaf in the smaller tree of a consistency path that was verified. Perfect subtrees
 * are the same in every larger tree, so the rest follows from the path of the leaf in any such tree.
 * @param index index of the leaf, less than `first`
 * @param path the leaf's audit path in a tree of more than `first` leaves
 * @param consistency the consistency path from `first` to a larger size
 * @returns null if the paths are too short
 */
export function earlierInclusion(
  index: number,
  path: readonly Uint8Array[],
  { first, second, firstRoot }: { readonly first: number; readonly second: number; readonly firstRoot: Uint8Array },
  consistency: readonly Uint8Array[],
): readonly Uint8Array[] | null {
  const walked = walk(first, second, firstRoot, consistency);
  if ('reason' in walked || consistency.some((hash) => hash.length !== HASH_LENGTH)) return null;
  const { frontier } = walked;
  const nodes = frontierNodes(first);
  const place = nodes.findIndex((node) => node.index === Math.floor(index / 2 ** node.level));
  const level = nodes[place]?.level;
  if (level === undefined || path.length < level) return null;
  const after = frontier.slice(place + 1);
  const right = after.length === 0 ? [] : [foldFrontier(after)];
  return [...path.slice(0, level), ...right, ...frontier.slice(0, place).reverse()];
}

function isPowerOfTwo(size: number): boolean {
  return 2 ** Math.round(Math.log2(size)) === size;
}

/** RFC 9162 §2.1.4.2 steps 2 to 7: both roots, and the perfect subtrees of the first tree, from the path. */
function walk(
  first: number,
  second: number,
  firstRoot: Uint8Array,
  path: readonly Uint8Array[],
): { readonly first: Uint8Array; readonly second: Uint8Array; readonly frontier: readonly Uint8Array[] } | Refused {
  const [start, ...rest] = isPowerOfTwo(first) ? [firstRoot, ...path] : path;
  if (start === undefined) return refuse('the path is empty');
  let fn = first - 1;
  let sn = second - 1;
  while (isOdd(fn)) {
    fn = half(fn);
    sn = half(sn);
  }
  let fr = start;
  let sr = start;
  const frontier = [start];
  for (const hash of rest) {
    if (sn === 0) return refuse('the path is too long');
    if (isOdd(fn) || fn === sn) {
      frontier.push(hash);
      fr = nodeHash(hash, fr);
      sr = nodeHash(hash, sr);
      while (!isOdd(fn) && fn !== 0) {
        fn = half(fn);
        sn = half(sn);
      }
    } else {
      sr = nodeHash(sr, hash);
    }
    fn = half(fn);
    sn = half(sn);
  }
  if (sn !== 0) return refuse('the path is too short');
  return { first: fr, second: sr, frontier: frontier.reverse() };
}
