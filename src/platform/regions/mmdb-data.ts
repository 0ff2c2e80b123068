/** A value of a MaxMind DB's data section. */
export type MmdbValue = string | number | bigint | boolean | Uint8Array | MmdbValue[] | { [key: string]: MmdbValue };

/** A file that is no sound MaxMind DB. */
export class InvalidMmdb extends Error {
  override readonly name = 'InvalidMmdb';
}

const POINTER = 1;
const STRING = 2;
const DOUBLE = 3;
const BYTES = 4;
const MAP = 7;
const INT32 = 8;
const ARRAY = 11;
const BOOLEAN = 14;
const FLOAT = 15;
/** uint16, uint32, uint64, uint128 */
const UNSIGNED: ReadonlySet<number> = new Set([5, 6, 9, 10]);
const EXTENDED = 0;

/** What a pointer's size class adds to its value. */
const POINTER_BASES = [0, 2048, 526_336, 0] as const;
const MAX_DEPTH = 32;

/** Reads values of a data section (MaxMind DB file format 2.0, "Output data section"). */
export class MmdbData {
  readonly #bytes: Buffer;

  /** @param bytes the section alone: pointers count from its first byte */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /**
   * The value at an offset.
   * @throws InvalidMmdb
   */
  valueAt(offset: number): MmdbValue {
    try {
      return this.#read(offset, 0).value;
    } catch (error) {
      if (error instanceof RangeError) throw new InvalidMmdb('its data section ends too early');
      throw error;
    }
  }

  #read(at: number, depth: number): { value: MmdbValue; next: number } {
    if (depth > MAX_DEPTH) throw new InvalidMmdb('its data is nested too deeply');
    const control = this.#bytes.readUInt8(at);
    const type = control >> 5;
    if (type === POINTER) {
      const length = ((control >> 3) & 3) + 1;
      const high = length === 4 ? 0 : (control & 7) * 2 ** (8 * length);
      const target = high + this.#bytes.readUIntBE(at + 1, length) + (POINTER_BASES[length - 1] ?? 0);
      return { value: this.#read(target, depth + 1).value, next: at + 1 + length };
    }
    const isExtended = type === EXTENDED;
    const realType = isExtended ? this.#bytes.readUInt8(at + 1) + 7 : type;
    const { size, next } = this.#size(control & 31, at + (isExtended ? 2 : 1));
    if (realType === MAP) return this.#map(size, next, depth);
    if (realType === ARRAY) return this.#array(size, next, depth);
    if (realType === BOOLEAN) return { value: size === 1, next };
    return { value: this.#scalar(realType, size, next), next: next + size };
  }

  #size(short: number, at: number): { size: number; next: number } {
    if (short < 29) return { size: short, next: at };
    const length = short - 28;
    const base = length === 1 ? 29 : length === 2 ? 285 : 65_821;
    return { size: base + this.#bytes.readUIntBE(at, length), next: at + length };
  }

  #map(size: number, at: number, depth: number): { value: MmdbValue; next: number } {
    const entries: [string, MmdbValue][] = [];
    let next = at;
    for (let i = 0; i < size; i += 1) {
      const key = this.#read(next, depth + 1);
      const member = this.#read(key.next, depth + 1);
      if (typeof key.value !== 'string') throw new InvalidMmdb('a key of its data is not a text');
      entries.push([key.value, member.value]);
      next = member.next;
    }
    return { value: Object.fromEntries(entries), next };
  }

  #array(size: number, at: number, depth: number): { value: MmdbValue; next: number } {
    const value: MmdbValue[] = [];
    let next = at;
    for (let i = 0; i < size; i += 1) {
      const item = this.#read(next, depth + 1);
      value.push(item.value);
      next = item.next;
    }
    return { value, next };
  }

  #scalar(type: number, size: number, at: number): MmdbValue {
    const end = at + size;
    if (end > this.#bytes.length) throw new InvalidMmdb('its data section ends too early');
    const bytes = this.#bytes.subarray(at, end);
    if (type === STRING) return bytes.toString('utf8');
    if (type === BYTES) return bytes;
    if (type === DOUBLE) return bytes.readDoubleBE();
    if (type === FLOAT) return bytes.readFloatBE();
    if (type === INT32) return size === 0 ? 0 : bytes.readIntBE(0, size);
    if (!UNSIGNED.has(type)) throw new InvalidMmdb(`its data has a value of the unknown type ${type}`);
    if (size <= 6) return size === 0 ? 0 : bytes.readUIntBE(0, size);
    return BigInt(`0x${bytes.toString('hex')}`);
  }
}
