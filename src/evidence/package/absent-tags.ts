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

  /** @param cover numbers of the leaves of the cover */
  constructor(
    tags: readonly AbsentTag[],
    readonly cover: ReadonlySet<number>,
  ) {
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
