// Takes the place of ../inflate.ts in a browser. The browser's own DecompressionStream says neither how much of its input was data, nor delivers
// what precedes an error, and unpacks a whole piece of input at once, however much that yields.
import { BitReader, MalformedDeflate } from './bit-reader.js';
import { PrefixCode } from './prefix-code.js';

const WINDOW = 32 * 1024;
const PIECE = 64 * 1024;
/** Octets of the longest header of a block, and of the longest pair of length and distance. */
const HEADER_OCTETS = 600;
const PAIR_OCTETS = 8;

const LENGTH_BASES = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASES = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
  8193, 12289, 16385, 24577,
];
const DISTANCE_BITS = [
  0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
];
const LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

type Block =
  | { readonly kind: 'stored'; left: number }
  | { readonly kind: 'coded'; readonly literals: PrefixCode; readonly distances: PrefixCode };

/**
 * Unpacks raw DEFLATE data (RFC 1951) piece by piece.
 * @returns the generator's return value is the number of packed bytes that belonged to the data
 * @throws Error if the data are malformed or cut short
 */
export async function* inflateRaw(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, number> {
  const inflater = new Inflater();
  for await (const chunk of chunks) {
    inflater.bits.feed(chunk);
    yield* inflater.run();
    if (inflater.isDone) return inflater.bits.consumed;
  }
  inflater.bits.end();
  yield* inflater.run();
  if (!inflater.isDone) throw new MalformedDeflate('the data end too early');
  return inflater.bits.consumed;
}

class Inflater {
  readonly bits = new BitReader();
  isDone = false;
  /** The last `WINDOW` octets given out, and behind them what was not given out yet. */
  readonly #out = new Uint8Array(WINDOW + PIECE);
  #filled = WINDOW;
  #total = 0;
  #block: Block | null = null;
  #isLast = false;

  /** Unpacks what is at hand. */
  *run(): Generator<Uint8Array, void> {
    while (!this.isDone) {
      if (this.#filled > this.#out.length - 258) yield this.#flush();
      if (this.#block === null && this.#isLast) this.isDone = true;
      else if (!this.#step()) break;
    }
    if (this.#filled > WINDOW) yield this.#flush();
  }

  /** @returns false if it waits for data */
  #step(): boolean {
    if (this.#block === null) {
      if (!this.bits.isReady(HEADER_OCTETS)) return false;
      this.#isLast = this.bits.take(1) === 1;
      this.#block = readBlock(this.bits);
      return true;
    }
    return this.#block.kind === 'stored' ? this.#copyStored(this.#block) : this.#decode(this.#block);
  }

  #copyStored(block: Block & { kind: 'stored' }): boolean {
    const octets = this.bits.octets(Math.min(block.left, this.#out.length - this.#filled));
    this.#out.set(octets, this.#filled);
    this.#filled += octets.length;
    block.left -= octets.length;
    if (block.left === 0) this.#block = null;
    else if (octets.length === 0) return false;
    return true;
  }

  #decode({ literals, distances }: Block & { kind: 'coded' }): boolean {
    const { bits } = this;
    const out = this.#out;
    const end = out.length - 258;
    while (this.#filled <= end) {
      if (!bits.isReady(PAIR_OCTETS)) return false;
      const symbol = nextSymbol(bits, literals);
      if (symbol < 256) {
        out[this.#filled] = symbol;
        this.#filled += 1;
        continue;
      }
      if (symbol === 256) {
        this.#block = null;
        return true;
      }
      const length = extended(bits, symbol - 257, LENGTH_BASES, LENGTH_BITS);
      const distance = extended(bits, nextSymbol(bits, distances), DISTANCE_BASES, DISTANCE_BITS);
      if (distance > this.#total + this.#filled - WINDOW) throw new MalformedDeflate('a distance reaches too far back');
      for (let i = 0; i < length; i += 1, this.#filled += 1) out[this.#filled] = out[this.#filled - distance] ?? 0;
    }
    return true;
  }

  #flush(): Uint8Array {
    const piece = this.#out.slice(WINDOW, this.#filled);
    this.#out.copyWithin(0, this.#filled - WINDOW, this.#filled);
    this.#total += piece.length;
    this.#filled = WINDOW;
    return piece;
  }
}

function nextSymbol(bits: BitReader, code: PrefixCode): number {
  const found = code.lookUp(bits.peek());
  if (found === 0) throw new MalformedDeflate('no code begins like this');
  bits.skip(found & 15);
  return found >> 4;
}

function extended(bits: BitReader, symbol: number, bases: readonly number[], extras: readonly number[]): number {
  const base = bases[symbol];
  if (base === undefined) throw new MalformedDeflate('a length or a distance that does not exist');
  return base + bits.take(extras[symbol] ?? 0);
}

/** Reads the header of a block (RFC 1951 §3.2.3). */
function readBlock(bits: BitReader): Block {
  const type = bits.take(2);
  if (type === 0) {
    bits.align();
    const length = bits.take(16);
    if ((bits.take(16) ^ length) !== 0xffff) throw new MalformedDeflate('the length of a stored block is wrong');
    bits.align();
    return { kind: 'stored', left: length };
  }
  if (type === 1) return { kind: 'coded', ...FIXED };
  if (type === 2) return { kind: 'coded', ...readCodes(bits) };
  throw new MalformedDeflate('a block of an unknown type');
}

function fixedCodes(): { literals: PrefixCode; distances: PrefixCode } {
  const lengths = Uint8Array.from({ length: 288 }, (_, symbol) =>
    symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8,
  );
  return codes(lengths, new Uint8Array(32).fill(5));
}

const FIXED = fixedCodes();

/** Reads the codes of a block that brings its own (RFC 1951 §3.2.7). */
function readCodes(bits: BitReader): { literals: PrefixCode; distances: PrefixCode } {
  const literals = bits.take(5) + 257;
  const distances = bits.take(5) + 1;
  const used = bits.take(4) + 4;
  if (literals > 286 || distances > 30) throw new MalformedDeflate('too many codes');
  const ownLengths = new Uint8Array(19);
  for (const symbol of LENGTH_ORDER.slice(0, used)) ownLengths[symbol] = bits.take(3);
  const own = PrefixCode.of(ownLengths, false);
  if (own === null) throw new MalformedDeflate('lengths that define no code');
  const lengths = new Uint8Array(literals + distances);
  for (let at = 0; at < lengths.length; ) {
    const symbol = nextSymbol(bits, own);
    const isRepeat = symbol >= 16;
    const value = symbol === 16 ? lengths[at - 1] : isRepeat ? 0 : symbol;
    const count = !isRepeat
      ? 1
      : symbol === 16
        ? 3 + bits.take(2)
        : symbol === 17
          ? 3 + bits.take(3)
          : 11 + bits.take(7);
    if (value === undefined || at + count > lengths.length) throw new MalformedDeflate('lengths repeat out of place');
    lengths.fill(value, at, at + count);
    at += count;
  }
  if (lengths[256] === 0) throw new MalformedDeflate('a block could not end');
  return codes(lengths.subarray(0, literals), lengths.subarray(literals));
}

function codes(
  literalLengths: Uint8Array,
  distanceLengths: Uint8Array,
): { literals: PrefixCode; distances: PrefixCode } {
  const literals = PrefixCode.of(literalLengths, true);
  const distances = PrefixCode.of(distanceLengths, true);
  if (literals === null || distances === null) throw new MalformedDeflate('lengths that define no code');
  return { literals, distances };
}
