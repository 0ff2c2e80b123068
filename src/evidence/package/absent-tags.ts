/** A tag that no leaf of the ledger tree from a number on may have. */
export interface AbsentTag {
  /** 32 bytes. */
  readonly tag: Uint8Array;
  /** Number of a batch: leaves of the cover below it need not show that the tag is absent. */
  readonly from: number;
}

/** Tags whose absence a package shows in the cover of its checkpoint. */
export class AbsentTags {
  readonly #sorted: readonly AbsentTag[];
  readonly #first: number;

  /** How often a verifier searches the cover: for the next record of the person, and for erasures. */
  readonly searches: number;

  /**
   * @param next the tag that the person's next record would have, at most one
   * @param erasures the tags that the erasures of the records would have
   * @param cover numbers of the leaves of the cover
   */
  constructor(
    next: readonly AbsentTag[],
    erasures: readonly AbsentTag[],
    readonly cover: ReadonlySet<number>,
  ) {
    const tags = [...next, ...erasures];
    this.searches = (next.length > 0 ? 1 : 0) + (erasures.length > 0 ? 1 : 0);
    this.#sorted = [...tags].sort((a, b) => Buffer.compare(a.tag, b.tag));
    this.#first = tags.reduce((first, { from }) => Math.min(first, from), Number.POSITIVE_INFINITY);
  }

  /** Whether a leaf of the ledger tree shows that a tag is absent. */
  concerns(number: number): boolean {
    return this.#first <= number && this.cover.has(number);
  }

  /** The tags whose absence a leaf shows, sorted. */
  of(number: number): readonly Uint8Array[] {
    if (!this.concerns(number)) return [];
    return this.#sorted.flatMap(({ tag, from }) => (from <= number ? [tag] : []));
  }
}
