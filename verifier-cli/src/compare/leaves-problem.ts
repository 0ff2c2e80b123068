import { toHex } from '../../../schemas/crypto/encoding.js';
import type { BatchHeader, RunPlace } from '../../../schemas/evidence/batch-header.js';
import { firstCovered } from '../../../schemas/evidence/roll-ups.js';
import { areAdjacent } from '../../../schemas/merkle/shown-leaves.js';

/** Sorted trees of a batch. */
export type Tree = 'streams' | 'tags';

/** A leaf of a sorted tree. */
export interface KeyedLeaf {
  readonly index: number;
  /** Stream key or tag, 32 bytes. */
  readonly key: Uint8Array;
  /** Numbers of a run. Absent for a tag. */
  readonly run?: RunPlace | undefined;
}

/** Leaves of a tree with the header that commits to it. */
export interface LeavesOf {
  readonly header: BatchHeader;
  readonly tree: Tree;
  readonly leaves: readonly KeyedLeaf[];
}

/**
 * Describes how two views of trees contradict each other, or null if they do not.
 * @param one a view of a batch
 * @param other a view of the same batch, of a roll-up over it, or of another batch
 */
export function leavesProblem(one: LeavesOf, other: LeavesOf): string | null {
  if (one.tree !== other.tree) return null;
  if (one.header.number === other.header.number)
    return isSorted([...one.leaves, ...other.leaves])
      ? null
      : `sealed batch ${one.header.number} with ${one.tree} that are not sorted: one side sees what the other cannot`;
  const twice = one.tree === 'tags' ? sharedTag(one, other) : null;
  if (twice !== null)
    return `sealed the tag ${twice} twice: in batch ${one.header.number} and in batch ${other.header.number}`;
  const isOver = one.header.number < other.header.number && one.header.number >= firstCovered(other.header.number);
  const hidden = isOver ? one.leaves.find(({ key }) => isShownAbsent(other, key)) : undefined;
  if (hidden === undefined) return null;
  return `sealed roll-up ${other.header.number} without a leaf of batch ${one.header.number}, which it covers (${one.tree})`;
}

/** Returns a tag that two batches have, or null if none is shown. */
function sharedTag(one: LeavesOf, other: LeavesOf): string | null {
  if (one.header.level > 0 || other.header.level > 0) return null;
  const tags = new Set(one.leaves.map(({ key }) => toHex(key)));
  return other.leaves.map(({ key }) => toHex(key)).find((tag) => tags.has(tag)) ?? null;
}

/** Whether the keys increase with the indexes. A leaf may be in the list twice. */
function isSorted(leaves: readonly KeyedLeaf[]): boolean {
  const byIndex = leaves.toSorted((a, b) => a.index - b.index);
  return byIndex.every((leaf, i) => {
    const before = byIndex[i - 1];
    if (before === undefined) return true;
    const order = toHex(before.key) < toHex(leaf.key);
    return before.index === leaf.index ? toHex(before.key) === toHex(leaf.key) : order;
  });
}

/** Returns whether a view of a tree shows that the tree lacks a key. */
export function isShownAbsent({ header, tree, leaves }: LeavesOf, key: Uint8Array): boolean {
  const count = tree === 'tags' ? header.tags_count : header.streams_count;
  const text = toHex(key);
  if (leaves.some((leaf) => toHex(leaf.key) === text)) return false;
  const before = leaves.findLast((leaf) => toHex(leaf.key) < text);
  const next = leaves.find((leaf) => toHex(leaf.key) > text);
  return areAdjacent(before?.index, next?.index, count);
}
