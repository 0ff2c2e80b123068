type Cells = Float64Array | Int32Array | Uint32Array | Uint8Array;

/** Cells in one piece: a column that grows never copies what it holds. */
const CHUNK = 65_536;

/** Numbers of one kind, by the million: outside the heap of objects, and no wider than they need to be. */
export class Column {
  readonly #chunks: Cells[] = [];
  #length = 0;

  /** @param make an empty piece of so many cells */
  constructor(readonly make: (cells: number) => Cells) {}

  static ofIntegers(): Column {
    return new Column((cells) => new Float64Array(cells));
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length % CHUNK === 0) this.#chunks.push(this.make(CHUNK));
    this.#length += 1;
    this.set(this.#length - 1, value);
  }

  at(index: number): number {
    return this.#chunks[Math.floor(index / CHUNK)]?.[index % CHUNK] ?? 0;
  }

  set(index: number, value: number): void {
    const chunk = this.#chunks[Math.floor(index / CHUNK)];
    if (chunk !== undefined) chunk[index % CHUNK] = value;
  }
}
