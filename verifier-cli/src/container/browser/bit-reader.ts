import { concatBytes } from '../../../../schemas/crypto/encoding.js';

/** The data are not DEFLATE, or are cut short. */
export class MalformedDeflate extends Error {
  override readonly name = 'MalformedDeflate';
}

/** Reads bits, the lowest of each octet first (RFC 1951 §3.1.1), from data that come in pieces. */
export class BitReader {
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;
  #held = 0;
  #heldBits = 0;
  /** Octets that belong to pieces before this one. */
  #before = 0;
  #isEnded = false;

  feed(piece: Uint8Array): void {
    this.#giveBack();
    this.#before += this.#at;
    this.#bytes = this.#at === this.#bytes.length ? piece : concatBytes(this.#bytes.subarray(this.#at), piece);
    this.#at = 0;
  }

  /** No further piece comes. */
  end(): void {
    this.#isEnded = true;
  }

  /** Whether so many octets are at hand, or no more will come. */
  isReady(octets: number): boolean {
    return this.#isEnded || this.#bytes.length - this.#at >= octets;
  }

  /** The next 15 bits without taking them; zeros where the data end. */
  peek(): number {
    while (this.#heldBits < 15 && this.#at < this.#bytes.length) this.#load();
    return this.#held & 0x7fff;
  }

  /** Takes bits that were looked at. @throws MalformedDeflate if the data end before them */
  skip(count: number): void {
    if (count > this.#heldBits) throw new MalformedDeflate('the data end too early');
    this.#held >>>= count;
    this.#heldBits -= count;
  }

  /** Takes up to 16 bits. @throws MalformedDeflate if the data end before them */
  take(count: number): number {
    while (this.#heldBits < count && this.#at < this.#bytes.length) this.#load();
    const value = this.#held & ((1 << count) - 1);
    this.skip(count);
    return value;
  }

  /** Drops the rest of an octet that was begun, and gives back whole octets that were looked at. */
  align(): void {
    this.#giveBack();
    this.#held = 0;
    this.#heldBits = 0;
  }

  /** Up to so many octets as they stand, after `align`: fewer where fewer are at hand. */
  octets(count: number): Uint8Array {
    const octets = this.#bytes.subarray(this.#at, this.#at + count);
    this.#at += octets.length;
    return octets;
  }

  /** Octets of which at least one bit was taken. */
  get consumed(): number {
    return this.#before + this.#at - (this.#heldBits >> 3);
  }

  #giveBack(): void {
    this.#at -= this.#heldBits >> 3;
    this.#heldBits &= 7;
    this.#held &= (1 << this.#heldBits) - 1;
  }

  #load(): void {
    this.#held |= (this.#bytes[this.#at] ?? 0) << this.#heldBits;
    this.#heldBits += 8;
    this.#at += 1;
  }
}
