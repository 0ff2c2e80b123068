import { splitBytes, toHex } from '../../../schemas/crypto/encoding.js';
import { PERSON_TAG_BYTES, personTagLeaf } from '../../../schemas/evidence/person-tag.js';
import { treeRoot } from '../../../schemas/merkle/tree.js';

/**
 * Sorts person tags as `tags_root` commits to them.
 * @throws RangeError if a tag occurs twice: a proof that shows the next one would mean nothing
 */
export function sortedTags(tags: readonly Uint8Array[]): readonly Uint8Array[] {
  const sorted = [...tags].sort(Buffer.compare);
  for (const [i, tag] of sorted.entries()) {
    const before = sorted[i - 1];
    if (before !== undefined && Buffer.compare(before, tag) === 0) throw new RangeError('a person tag occurs twice');
  }
  return sorted;
}

/** The root over sorted tags, in hex. */
export function tagsRoot(sorted: readonly Uint8Array[]): string {
  return toHex(treeRoot(sorted.map(personTagLeaf)));
}

/** Splits concatenated tags. @returns null if the length is wrong */
export function splitTags(bytes: Uint8Array): readonly Uint8Array[] | null {
  return splitBytes(bytes, PERSON_TAG_BYTES);
}
