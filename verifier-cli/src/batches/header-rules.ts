import { toHex } from '../../../schemas/crypto/encoding.js';
import type { BatchHeader } from '../../../schemas/evidence/batch-header.js';
import { emptyRoot } from '../../../schemas/merkle/hashing.js';

type Members = Omit<BatchHeader, 'v'>;

/** Returns whether a header states counts that no leaf of the ledger tree can have (docs/evidence-format.md §6). */
export function areCountsImpossible({ count, streams_count: streams, tags_count: tags }: Members): boolean {
  return streams > count || tags > count || (count > 0 && streams === 0);
}

/** Whether each root of a header is the root of an empty tree if and only if its count is 0. */
export function areRootsPossible(header: Members): boolean {
  const { count, root } = header;
  const empty = toHex(emptyRoot());
  const isRight = (size: number, hash: string): boolean => (size === 0) === (hash === empty);
  return (
    isRight(header.streams_count, header.streams_root) &&
    isRight(header.tags_count, header.tags_root) &&
    (root === null || isRight(count, root))
  );
}

/** Returns whether the checkpoint in `after` could have been stamped when the leaf was sealed. */
export function isAfterPossible({ after, number }: Members): boolean {
  return after === null || (after.size <= number && after.size > 0);
}
