const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Reads unsigned numbers from base64url text, bit by bit, as the strings of IAB are written. */
export class BitReader {
  readonly #values: readonly number[];
  #at = 0;

  /** @throws RangeError for a character that is not of base64url */
  constructor(text: string) {
    this.#values = Array.from(text, (character) => {
      const value = ALPHABET.indexOf(character);
      if (value < 0) throw new RangeError('not base64url');
      return value;
    });
  }

  /**
   * The next number, most significant bit first.
   * @param width 1 to 48 bits
   * @throws RangeError at the end of the text
   */
  number(width: number): number {
    let value = 0;
    for (let bit = 0; bit < width; bit += 1) value = value * 2 + this.#bit();
    return value;
  }

  /** @throws RangeError at the end of the text */
  flag(): boolean {
    return this.#bit() === 1;
  }

  /** The positions, from 1, of the bits that are set in the next `width`. @throws RangeError at the end of the text */
  positions(width: number): number[] {
    const set: number[] = [];
    for (let position = 1; position <= width; position += 1) if (this.flag()) set.push(position);
    return set;
  }

  #bit(): number {
    const value = this.#values[Math.floor(this.#at / 6)];
    if (value === undefined) throw new RangeError('the text ends early');
    const bit = (value >> (5 - (this.#at % 6))) & 1;
    this.#at += 1;
    return bit;
  }
}

/** Runs a reader on a text from outside. @returns null if the text does not have the reader's form */
export function readOrNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
