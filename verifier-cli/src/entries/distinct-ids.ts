import { readUuid } from './uuid-words.js';

/** Ids per chunk: 64 KiB. Chunks are small, because each is zeroed and most packages have few records. */
const CHUNK = 4096;
/** Below 2^31 and prime. */
const PRIME = 2_147_483_647;

/**
 * A set of hex values that may each occur once in a package: event ids and tags. In addition to its own bytes, a value
 * takes about 8 bytes in the hash table (24 MB for a million event ids). The hash function depends on random numbers,
 * so that an attacker cannot choose values that collide.
 */
export class DistinctIds {
  readonly #chunks: Uint32Array[] = [];
  readonly #factors: Uint32Array;
  /** 1 + the number of the id in this slot; 0 if the slot is free. */
  #places = new Uint32Array(1024);
  #count = 0;
  /** Words of the value being looked up. */
  readonly #words: Uint32Array;

  /** @param words number of 32-bit words in a value */
  constructor(readonly words: number) {
    this.#words = new Uint32Array(words);
    this.#factors = crypto.getRandomValues(new Uint32Array(2 * words));
  }

  /**
   * @param id the identifier in lower-case hex; dashes are ignored
   * @returns whether the id is new
   */
  add(id: string): boolean {
    readUuid(id, this.#words);
    const place = this.#placeOf(this.#words, 0);
    if (this.#places[place] !== 0) return false;
    if (this.#count % CHUNK === 0) this.#chunks.push(new Uint32Array(CHUNK * this.words));
    this.#chunks.at(-1)?.set(this.#words, (this.#count % CHUNK) * this.words);
    this.#count += 1;
    this.#places[place] = this.#count;
    if (this.#count * 2 > this.#places.length) this.#grow();
    return true;
  }

  #grow(): void {
    this.#places = new Uint32Array(this.#places.length * 2);
    for (let number = 0; number < this.#count; number += 1) {
      const chunk = this.#chunks[Math.floor(number / CHUNK)];
      if (chunk !== undefined) this.#places[this.#placeOf(chunk, (number % CHUNK) * this.words)] = number + 1;
    }
  }

  /** Returns the slot of the id that begins at `start`, or the free slot where it belongs. */
  #placeOf(words: Uint32Array, start: number): number {
    const mask = this.#places.length - 1;
    for (let place = this.#hash(words, start) & mask; ; place = (place + 1) & mask) {
      const number = this.#places[place] ?? 0;
      if (number === 0 || this.#isSame(number - 1, words, start)) return place;
    }
  }

  #isSame(number: number, words: Uint32Array, start: number): boolean {
    const chunk = this.#chunks[Math.floor(number / CHUNK)];
    const first = (number % CHUNK) * this.words;
    for (let i = 0; i < this.words; i += 1) if (chunk?.[first + i] !== words[start + i]) return false;
    return true;
  }

  /**
   * A random linear function of the halves of the words, modulo a prime, so two ids collide only by chance. Every term
   * is below 2^47.
   */
  #hash(words: Uint32Array, start: number): number {
    let sum = 0;
    for (let i = 0; i < this.words; i += 1) {
      const word = words[start + i] ?? 0;
      const low = (this.#factors[2 * i] ?? 0) >>> 1;
      const high = (this.#factors[2 * i + 1] ?? 0) >>> 1;
      sum += low * (word & 0xffff) + high * (word >>> 16);
    }
    return sum % PRIME;
  }
}
