import type { Tree } from '../../compare/leaves-problem.js';

/**
 * A contradiction as the auditor found it, from which `prove` makes a proof. Numbers are those of leaves of the ledger
 * tree; keys and tags are 32 bytes.
 */
export type Claim =
  /** The content of a leaf is not a header. */
  | { readonly kind: 'header'; readonly number: number }
  /** The headers of two leaves. */
  | { readonly kind: 'headers'; readonly first: number; readonly second: number }
  /** A header that does not count the policies of its leaf. */
  | { readonly kind: 'policies'; readonly number: number }
  /** The last run of a leaf does not end at the count of its header. */
  | { readonly kind: 'tiling'; readonly number: number }
  /** Two leaves of a sorted tree are not in order: the one at the index, and the one before. */
  | { readonly kind: 'order'; readonly number: number; readonly tree: Tree; readonly index: number }
  /** Two runs of one stream. */
  | { readonly kind: 'runs'; readonly key: Uint8Array; readonly first: number; readonly second: number }
  /**
   * The run of a leaf, and the last run of its stream in the leaves [from, before), or the fact that they have none.
   */
  | {
      readonly kind: 'stream';
      readonly key: Uint8Array;
      readonly number: number;
      readonly before: number;
      readonly from: number;
    }
  /** A tag of a roll-up that none of the leaves under it has. */
  | { readonly kind: 'surplus-tag'; readonly tag: Uint8Array; readonly rollUp: number }
  /** A leaf of a batch or roll-up that the roll-up over it does not have. */
  | {
      readonly kind: 'missing';
      readonly tree: Tree;
      readonly key: Uint8Array;
      readonly number: number;
      readonly rollUp: number;
    }
  /** A tag of two batches, whose numbers are below a number. */
  | { readonly kind: 'tag-twice'; readonly tag: Uint8Array; readonly below: number };

/** The ledger breaks a rule of its structure. The message says which. */
export class Violation extends Error {
  override readonly name = 'Violation';
  /** @param claim null if no proof is possible, for example because a file is not published */
  constructor(
    message: string,
    readonly claim: Claim | null,
  ) {
    super(message);
  }
}
