type Cells = Float64Array | Int32Array | Uint32Array | Uint8Array;

/**
 * Number of cells per chunk. Chunks are never copied when the column grows. They are small, because each is zeroed and
 * most packages have few records.
 */
const CHUNK = 4096;

/** A column of millions of numbers, outside the object heap and no wider than necessary. */
export class Column {
  readonly #chunks: Cells[] = [];
  #last: Cells = new Uint8Array();
  #length = 0;

  /** @param make creates an empty chunk with this number of cells */
  constructor(readonly make: (cells: number) => Cells) {}

  static ofIntegers(): Column {
    return new Column((cells) => new Float64Array(cells));
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    const place = this.#length % CHUNK;
    if (place === 0) {
      this.#last = this.make(CHUNK);
      this.#chunks.push(this.#last);
    }
    this.#last[place] = value;
    this.#length += 1;
  }

  at(index: number): number {
    return this.#chunks[Math.floor(index / CHUNK)]?.[index % CHUNK] ?? 0;
  }

  set(index: number, value: number): void {
    const chunk = this.#chunks[Math.floor(index / CHUNK)];
    if (chunk !== undefined) chunk[index % CHUNK] = value;
  }
}
