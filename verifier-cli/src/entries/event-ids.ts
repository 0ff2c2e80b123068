/** Words of 32 bits in an id. */
const WORDS = 4;
/** Ids kept in one piece: 1 MiB. */
const CHUNK = 65_536;
/** Below 2^31 and prime. */
const PRIME = 2_147_483_647;

/**
 * The event ids of a package: each may stand in it once. An id takes 16 bytes, and about 8 more in the table of places (24 MB for a million). How
 * ids spread over the table depends on numbers drawn anew each time, so that nobody can choose ids that crowd it.
 */
export class EventIds {
  readonly #chunks: Uint32Array[] = [];
  readonly #factors = crypto.getRandomValues(new Uint32Array(2 * WORDS));
  /** 1 + the number of the id that has this place; 0 where none has. */
  #places = new Uint32Array(1024);
  #count = 0;

  /**
   * @param id a UUID in lower case
   * @returns whether it is the first time
   */
  add(id: string): boolean {
    const words = wordsOf(id);
    const place = this.#placeOf(words);
    if (this.#places[place] !== 0) return false;
    if (this.#count % CHUNK === 0) this.#chunks.push(new Uint32Array(CHUNK * WORDS));
    this.#chunks.at(-1)?.set(words, (this.#count % CHUNK) * WORDS);
    this.#count += 1;
    this.#places[place] = this.#count;
    if (this.#count * 2 > this.#places.length) this.#grow();
    return true;
  }

  #grow(): void {
    this.#places = new Uint32Array(this.#places.length * 2);
    for (let number = 0; number < this.#count; number += 1) {
      this.#places[this.#placeOf(this.#wordsAt(number))] = number + 1;
    }
  }

  /** The place of an id, or the free one where it belongs. */
  #placeOf(words: Uint32Array): number {
    const mask = this.#places.length - 1;
    for (let place = this.#hash(words) & mask; ; place = (place + 1) & mask) {
      const number = this.#places[place] ?? 0;
      if (number === 0 || this.#wordsAt(number - 1).every((word, i) => word === words[i])) return place;
    }
  }

  #wordsAt(number: number): Uint32Array {
    const start = (number % CHUNK) * WORDS;
    return this.#chunks[Math.floor(number / CHUNK)]?.subarray(start, start + WORDS) ?? new Uint32Array(WORDS);
  }

  /** A linear function of the halves of the words, modulo a prime: two ids collide by chance alone. Every term is below 2^47. */
  #hash(words: Uint32Array): number {
    let sum = 0;
    for (const [i, word] of words.entries()) {
      const low = (this.#factors[2 * i] ?? 0) >>> 1;
      const high = (this.#factors[2 * i + 1] ?? 0) >>> 1;
      sum += low * (word & 0xffff) + high * (word >>> 16);
    }
    return sum % PRIME;
  }
}

function wordsOf(id: string): Uint32Array {
  const hex = id.replaceAll('-', '');
  return Uint32Array.from({ length: WORDS }, (_, i) => Number.parseInt(hex.slice(8 * i, 8 * i + 8), 16));
}
