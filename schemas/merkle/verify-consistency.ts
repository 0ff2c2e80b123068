import { equalBytes } from '../crypto/encoding.js';
import { HASH_LENGTH, nodeHash } from './hashing.js';
import { half, isOdd, isTreeNumber, type ProofVerdict, refuse } from './verify-inclusion.js';

/**
 * Verifies that the tree of size `second` extends the one of size `first` (RFC 9162 §2.1.4.2). Every input may be hostile: nothing is thrown.
 * Nothing is consistent with a tree without leaves: it commits to nothing, so a proof about it would prove nothing.
 */
export function verifyConsistency(
  first: number,
  second: number,
  firstRoot: Uint8Array,
  secondRoot: Uint8Array,
  path: readonly Uint8Array[],
): ProofVerdict {
  if (!isTreeNumber(first) || !isTreeNumber(second)) return refuse('sizes must be whole numbers below 2^53');
  if (first > second) return refuse('the first size is larger than the second');
  if ([firstRoot, secondRoot, ...path].some((hash) => hash.length !== HASH_LENGTH)) {
    return refuse('a hash is not 32 bytes long');
  }
  if (first === 0) return refuse('the first size is 0');
  if (first === second) {
    if (path.length > 0) return refuse('the path must be empty');
    return equalBytes(firstRoot, secondRoot) ? { ok: true } : refuse('two roots for one size');
  }
  if (path.length === 0) return refuse('the path is empty');

  const isPowerOfTwo = 2 ** Math.round(Math.log2(first)) === first;
  const [start, ...rest] = isPowerOfTwo ? [firstRoot, ...path] : path;
  if (start === undefined) return refuse('the path is empty');
  let fn = first - 1;
  let sn = second - 1;
  while (isOdd(fn)) {
    fn = half(fn);
    sn = half(sn);
  }
  let fr = start;
  let sr = start;
  for (const hash of rest) {
    if (sn === 0) return refuse('the path is too long');
    if (isOdd(fn) || fn === sn) {
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
  if (!equalBytes(fr, firstRoot)) return refuse('the path does not lead to the first root');
  if (!equalBytes(sr, secondRoot)) return refuse('the path does not lead to the second root');
  return { ok: true };
}
