/** Longest code of DEFLATE, in bits. */
const MAX_BITS = 15;
/** Codes up to this length are looked up at once, longer ones bit by bit. */
const FAST_BITS = 10;

/** A prefix code of DEFLATE (RFC 1951 §3.2.2). */
export class PrefixCode {
  /** By the next `FAST_BITS` bits: `symbol << 4 | length`; 0 for a longer code, or none. */
  readonly #fast = new Uint16Array(1 << FAST_BITS);
  readonly #counts = new Uint16Array(MAX_BITS + 1);
  /** Symbols in the order of their codes. */
  readonly #symbols: Uint16Array;

  private constructor(lengths: Uint8Array, counts: Uint16Array) {
    this.#counts.set(counts);
    const first = new Uint16Array(MAX_BITS + 2);
    const offsets = new Uint16Array(MAX_BITS + 2);
    for (let length = 1; length <= MAX_BITS; length += 1) {
      first[length + 1] = ((first[length] ?? 0) + (counts[length] ?? 0)) << 1;
      offsets[length + 1] = (offsets[length] ?? 0) + (counts[length] ?? 0);
    }
    this.#symbols = new Uint16Array(lengths.length);
    for (const [symbol, length] of lengths.entries()) {
      if (length === 0) continue;
      this.#symbols[offsets[length] ?? 0] = symbol;
      offsets[length] = (offsets[length] ?? 0) + 1;
      const code = first[length] ?? 0;
      first[length] = code + 1;
      if (length > FAST_BITS) continue;
      for (let slot = reversed(code, length); slot < this.#fast.length; slot += 1 << length)
        this.#fast[slot] = (symbol << 4) | length;
    }
  }

  /**
   * The code that these lengths define.
   * @param lengths bits of each symbol's code; 0 if it has none
   * @param mayBeIncomplete whether a single code of one bit, or none at all, is accepted, as zlib does for literals and distances
   * @returns null if the lengths define no code
   */
  static of(lengths: Uint8Array, mayBeIncomplete: boolean): PrefixCode | null {
    const counts = new Uint16Array(MAX_BITS + 1);
    for (const length of lengths) if (length > 0) counts[length] = (counts[length] ?? 0) + 1;
    let left = 1;
    for (const count of counts.subarray(1)) {
      left = left * 2 - count;
      if (left < 0) return null;
    }
    const isShort = counts.subarray(2).every((count) => count === 0);
    return left === 0 || (mayBeIncomplete && isShort) ? new PrefixCode(lengths, counts) : null;
  }

  /**
   * @param bits the next 15 bits of the data, the first of them lowest
   * @returns `symbol << 4 | length`; 0 if they begin with no code
   */
  lookUp(bits: number): number {
    const hit = this.#fast[bits & ((1 << FAST_BITS) - 1)] ?? 0;
    return hit === 0 ? this.#walk(bits) : hit;
  }

  /** Canonical codes of one length are consecutive numbers. */
  #walk(bits: number): number {
    let code = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; length <= MAX_BITS; length += 1) {
      code |= (bits >> (length - 1)) & 1;
      const count = this.#counts[length] ?? 0;
      if (code - first < count) return ((this.#symbols[index + code - first] ?? 0) << 4) | length;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    return 0;
  }
}

/** Codes are packed with their first bit lowest (RFC 1951 §3.1.1). */
function reversed(code: number, length: number): number {
  let out = 0;
  for (let bit = 0; bit < length; bit += 1) out |= ((code >> bit) & 1) << (length - 1 - bit);
  return out;
}
