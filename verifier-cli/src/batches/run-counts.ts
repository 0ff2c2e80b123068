/** A statement that the ledger has `count` events of a stream in all leaves up to `number`. */
interface Counted<T> {
  readonly number: number;
  readonly count: number;
  /** The origin of the statement. */
  readonly source: T;
}

/** A run of one stream, as a leaf of the ledger tree states it. */
export interface StatedRun {
  /** Number of the first leaf of the period. For a batch, this is its own number. */
  readonly from: number;
  /** Number of the leaf itself. */
  readonly to: number;
  readonly first: number;
  readonly last: number;
}

/**
 * The events of one stream, counted along the ledger. A run from `first` to `last` states two counts: that the leaves
 * before its period have `first` events, and that the leaves up to its end have `last` + 1. Counts never decrease, and
 * each leaf has exactly one. So a roll-up cannot cut off the end of a run below it, and a later leaf cannot reuse a
 * revision.
 */
export class RunCounts<T> {
  /** Statements sorted by number. Counts increase with the number. */
  readonly #known: Counted<T>[] = [];

  /**
   * Adds the statements of a run.
   * @returns null, or the source of a statement that the run contradicts; the run is then not added
   */
  add({ from, to, first, last }: StatedRun, source: T): { readonly source: T } | null {
    const before = { number: from - 1, count: first, source };
    const after = { number: to, count: last + 1, source };
    const conflict = this.#conflictOf(before) ?? this.#conflictOf(after) ?? this.#within(before, after);
    if (conflict !== null) return { source: conflict.source };
    this.#insert(before);
    this.#insert(after);
    return null;
  }

  /**
   * Adds the statement that the leaves of a period have no event of the stream.
   * @returns null, or the source of a contradicting statement
   */
  addNone({ from, to }: Pick<StatedRun, 'from' | 'to'>, source: T): { readonly source: T } | null {
    const inside = this.#known.slice(this.#placeOf(from - 1), this.#placeOf(to + 1));
    const [first] = inside;
    if (first === undefined) return null;
    const other = inside.find(({ count }) => count !== first.count);
    if (other !== undefined) return { source: other.source };
    this.#insert({ number: from - 1, count: first.count, source });
    this.#insert({ number: to, count: first.count, source });
    return null;
  }

  #conflictOf({ number, count }: Counted<T>): Counted<T> | null {
    const place = this.#placeOf(number);
    const before = this.#known[place - 1];
    const next = this.#known[place];
    if (before !== undefined && before.count > count) return before;
    if (next === undefined) return null;
    return next.number === number ? (next.count === count ? null : next) : next.count < count ? next : null;
  }

  /** Returns a statement about a leaf within a period whose count its run does not permit. */
  #within(before: Counted<T>, after: Counted<T>): Counted<T> | null {
    const inside = this.#known.slice(this.#placeOf(before.number), this.#placeOf(after.number + 1));
    return inside.find(({ count }) => count < before.count || count > after.count) ?? null;
  }

  /** Returns the index of the first statement about this leaf or a later one. */
  #placeOf(number: number): number {
    let low = 0;
    let high = this.#known.length;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((this.#known[middle]?.number ?? number) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #insert(counted: Counted<T>): void {
    const place = this.#placeOf(counted.number);
    if (this.#known[place]?.number !== counted.number) this.#known.splice(place, 0, counted);
  }
}
