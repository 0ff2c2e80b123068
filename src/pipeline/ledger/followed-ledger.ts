import type { BatchSealedBody } from '../../../schemas/events/ledger.js';
import type { StreamKeyOf } from '../../../schemas/evidence/batch-header.js';
import { Frontier, foldEdge } from '../../../schemas/merkle/tree.js';
import type { LedgerState } from './ledger-state.js';
import type { SealedHeads } from './sealed-leaf.js';

/** The next keys of the ledger, whose announcement is sealed. */
export interface AnnouncedKey {
  readonly key: string;
  readonly mlDsaKey: string;
  /** Revision of the announcement in `policy`. */
  readonly revision: number;
  /** Number of the batch with it: the keys before and these sign the first checkpoint above. */
  readonly batch: number;
}

/** The next keys that a batch announces; null: none. @param batch its number */
export function announcedKey(batch: number, { announced }: BatchSealedBody): AnnouncedKey | null {
  if (announced === undefined) return null;
  return { key: announced.key, mlDsaKey: announced.ml_dsa_key, revision: announced.revision, batch };
}

/** The ledger tree at one size. */
export interface LedgerTree {
  readonly size: number;
  /** Roots of its perfect subtrees, largest first. */
  readonly edge: readonly Uint8Array[];
  /** The tree without its last leaf; null where no further checkpoint can be of that size. */
  readonly before: LedgerTree | null;
}

/**
 * The ledger, read from its stream in the event log. This state decides every append and signature; no
 * derived table does, because a row that was wrong for a moment would otherwise be wrong for ever.
 */
export interface FollowedLedger extends LedgerState {
  readonly tree: LedgerTree;
  readonly keyOf: StreamKeyOf;
  /** The next keys, until a stamped checkpoint covers their announcement. */
  readonly announced: AnnouncedKey | null;
  /** Revisions that were skipped, and whose `LedgerEventSkipped` was not reached yet. */
  readonly skipped: readonly number[];
  /** Verified ends of the sealed streams. */
  readonly heads: SealedHeads;
}

/** The root of the ledger tree, 32 bytes. */
export function rootOf({ edge }: LedgerTree): Uint8Array {
  return foldEdge(edge);
}

/** The root at a size for which a checkpoint can still be made, 32 bytes; null for other sizes. */
export function rootAt(tree: LedgerTree, size: number): Uint8Array | null {
  let at: LedgerTree | null = tree;
  while (at !== null && at.size > size) at = at.before;
  return at?.size === size ? rootOf(at) : null;
}

/** The tree with one more leaf. */
export function withLeaf(tree: LedgerTree, leaf: Uint8Array): LedgerTree {
  const frontier = new Frontier(tree.size, tree.edge);
  frontier.append(leaf);
  return { size: frontier.size, edge: frontier.edge, before: tree };
}

/** The tree without the sizes up to `size`, which have their checkpoint. */
export function withoutSizesUpTo(tree: LedgerTree, size: number): LedgerTree {
  const kept: LedgerTree[] = [];
  for (let at: LedgerTree | null = tree; at !== null && at.size > size; at = at.before) kept.push(at);
  const trimmed = kept.reduceRight<LedgerTree | null>((before, { size, edge }) => ({ size, edge, before }), null);
  return trimmed ?? { size: tree.size, edge: tree.edge, before: null };
}
