/** Kinds of characters, to be combined with `|`. */
export const DIGIT = 1;
export const HEX_LETTER = 2;
/** a to z. */
export const LOWER = 4;
export const UPPER = 8;
/** `-` and `_`. */
export const DASHES = 16;
/** `.` */
export const DOT = 32;
/** The last character of 32 bytes in canonical base64url: its two unused bits are zero. */
export const LAST_OF_32_BYTES = 64;
/** ASCII characters that need no escape in a JSON string. */
export const PLAIN = 128;

export const HEX = DIGIT | HEX_LETTER;
export const BASE64URL = DIGIT | LOWER | UPPER | DASHES;

const KINDS = Uint8Array.from({ length: 256 }, (_, code) => kindsOf(String.fromCharCode(code)));

function kindsOf(character: string): number {
  const kinds: readonly (readonly [number, RegExp])[] = [
    [DIGIT, /[0-9]/],
    [HEX_LETTER, /[a-f]/],
    [LOWER, /[a-z]/],
    [UPPER, /[A-Z]/],
    [DASHES, /[_-]/],
    [DOT, /\./],
    [LAST_OF_32_BYTES, /[AEIMQUYcgkosw048]/],
    [PLAIN, /[\x20\x21\x23-\x5b\x5d-\x7e]/],
  ];
  return kinds.reduce((sum, [kind, pattern]) => sum | (pattern.test(character) ? kind : 0), 0);
}

/** Number of decimal digits that a double always represents exactly. */
const CERTAIN_DIGITS = 15;
const MINUS = 0x2d;
const ZERO = 0x30;
const UUID_LENGTH = 36;

/** The bytes of an ASCII text. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** A piece of JSON as escaped within a JSON string. */
export function within(json: string): Uint8Array {
  return asciiBytes(JSON.stringify(json).slice(1, -1));
}

/**
 * Walks once through bytes that are known in advance except for some values of known kinds, such as millions of JSON
 * texts in canonical form. If the bytes differ, the cursor is broken and stays broken, and what it returns is
 * meaningless.
 */
export class Cursor {
  isBroken = false;

  /**
   * @param text the same bytes as characters U+0000 to U+00FF: values are slices of it, which cost
   *   next to nothing
   * @param end offset before which reading stops
   */
  constructor(
    readonly bytes: Uint8Array,
    readonly text: string,
    public at: number,
    readonly end: number,
  ) {}

  /** Whether the cursor has passed all bytes. */
  get isDone(): boolean {
    return !this.isBroken && this.at === this.end;
  }

  /** Skips these bytes, or breaks if they do not come next. */
  expect(literal: Uint8Array): void {
    if (!this.skip(literal)) this.isBroken = true;
  }

  /** Skips these bytes if they come next. @returns whether they did */
  skip(literal: Uint8Array): boolean {
    const { bytes, at } = this;
    if (at + literal.length > this.end) return false;
    for (let i = 0; i < literal.length; i += 1) if (bytes[at + i] !== literal[i]) return false;
    this.at = at + literal.length;
    return true;
  }

  /** Reads exactly this many characters of these kinds. */
  take(kinds: number, length: number): string {
    const start = this.at;
    if (this.#endOf(kinds, start, start + length) !== start + length) return this.#break();
    this.at = start + length;
    return this.text.slice(start, start + length);
  }

  /** The characters of these kinds at the cursor, at least `least` and at most `most`. */
  span(kinds: number, least: number, most: number): string {
    const start = this.at;
    const end = this.#endOf(kinds, start, start + most);
    if (end - start < least) return this.#break();
    this.at = end;
    return this.text.slice(start, end);
  }

  /** Reads this many bytes of lower-case hex, decoded. */
  hexBytes(length: number): Uint8Array {
    const decoded = new Uint8Array(length);
    const start = this.at;
    if (this.#endOf(HEX, start, start + 2 * length) !== start + 2 * length) {
      this.isBroken = true;
      return decoded;
    }
    const { bytes } = this;
    for (let i = 0; i < length; i += 1)
      decoded[i] = (digitOf(bytes[start + 2 * i] ?? 0) << 4) | digitOf(bytes[start + 2 * i + 1] ?? 0);
    this.at = start + 2 * length;
    return decoded;
  }

  /** A UUID in lower case. */
  uuid(): string {
    const start = this.at;
    const end = start + UUID_LENGTH;
    const { bytes } = this;
    if (end > this.end) return this.#break();
    for (let at = start; at < end; at += 1) {
      const code = bytes[at] ?? 0;
      if ((KINDS[code] ?? 0) & HEX) continue;
      const place = at - start;
      if (code !== MINUS || (place !== 8 && place !== 13 && place !== 18 && place !== 23)) return this.#break();
    }
    const isGrouped =
      bytes[start + 8] === MINUS &&
      bytes[start + 13] === MINUS &&
      bytes[start + 18] === MINUS &&
      bytes[start + 23] === MINUS;
    if (!isGrouped) return this.#break();
    this.at = end;
    return this.text.slice(start, end);
  }

  /** A whole number of at most 15 digits, as JSON writes it. */
  count(): number {
    const { bytes, at: start } = this;
    const end = this.#endOf(DIGIT, start, start + CERTAIN_DIGITS + 1);
    const digits = end - start;
    if (digits === 0 || digits > CERTAIN_DIGITS || (digits > 1 && bytes[start] === ZERO)) {
      this.isBroken = true;
      return 0;
    }
    let value = 0;
    for (let i = start; i < end; i += 1) value = value * 10 + (bytes[i] ?? 0) - ZERO;
    this.at = end;
    return value;
  }

  #break(): string {
    this.isBroken = true;
    return '';
  }

  /** Returns the end of the run of these kinds that begins at `start`, at most `limit`. */
  #endOf(kinds: number, start: number, limit: number): number {
    const { bytes } = this;
    const most = limit < this.end ? limit : this.end;
    let at = start;
    while (at < most && ((KINDS[bytes[at] ?? 0] ?? 0) & kinds) !== 0) at += 1;
    return at;
  }
}

/** Value of a character that is known to be a hex digit in lower case. */
function digitOf(code: number): number {
  return code < 0x3a ? code - 0x30 : code - 0x57;
}
