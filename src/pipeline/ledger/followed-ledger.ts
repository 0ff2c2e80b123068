import type { StreamKeyOf } from '../../../schemas/evidence/batch-header.js';
import { Frontier, foldEdge } from '../../../schemas/merkle/tree.js';
import type { LedgerState } from './ledger-state.js';
import type { SealedHeads } from './sealed-leaf.js';

/** A checkpoint that transfers the ledger to another key. */
export interface KeyBridge {
  readonly key: string;
  readonly mlDsaKey: string;
  /** The Ed25519 key before it. */
  readonly replaces: string;
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
  /** The last change of the key, until its publication follows. */
  readonly bridge: (KeyBridge & { readonly size: number }) | null;
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
