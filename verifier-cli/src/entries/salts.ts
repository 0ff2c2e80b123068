import type { Disclosure } from '../../../schemas/evidence/disclosure.js';
import { LIMITS } from '../container/limits.js';
import type { EntryFindings } from '../findings/entry-findings.js';
import { finding } from '../findings/finding.js';

const FIRST_SLOTS = 4096;

/**
 * The salts of all values that a package discloses. Salts must be random. A repeated one is not, and would let an
 * attacker guess values from digests or link records of one person.
 *
 * The table keeps 64 bits of a hash of each salt. It is open-addressed and doubles up to `LIMITS.salts` entries (64
 * MiB); further salts are not compared. Even then, the probability that two different salts are mistaken for one is
 * below one in two million.
 */
export class Salts {
  #slots = new Uint32Array(FIRST_SLOTS * 2);
  #count = 0;

  accept(disclosures: readonly Disclosure[], findings: EntryFindings): void {
    if (disclosures.length === 0) return;
    if (this.#count + disclosures.length > LIMITS.salts) {
      findings.open('disclosure.salt', finding('salts-not-compared', { limit: LIMITS.salts }));
      return;
    }
    const isReused = disclosures.map(({ salt }) => !this.#add(salt)).includes(true);
    if (isReused) findings.fail('disclosure.salt', finding('salt-repeated'));
    else findings.pass('disclosure.salt');
  }

  /** @returns false if the salt was already present */
  #add(salt: string): boolean {
    let low = 0x811c9dc5;
    let high = 0x9e3779b9;
    for (let i = 0; i < salt.length; i += 1) {
      const code = salt.charCodeAt(i);
      low = mix(low ^ code, 0x01000193);
      high = mix(high ^ code, 0x85ebca6b);
    }
    const isNew = this.#insert(finish(low), finish(high) || 1);
    if (isNew) this.#count += 1;
    if (this.#count * 4 > this.#slots.length) this.#grow();
    return isNew;
  }

  /** A slot is two words; a second word of 0 marks an empty one. */
  #insert(low: number, high: number): boolean {
    const mask = this.#slots.length / 2 - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const found = this.#slots[slot * 2 + 1];
      if (found === 0) {
        this.#slots[slot * 2] = low;
        this.#slots[slot * 2 + 1] = high;
        return true;
      }
      if (found === high && this.#slots[slot * 2] === low) return false;
    }
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(before.length * 2);
    for (let at = 0; at < before.length; at += 2) {
      const high = before[at + 1] ?? 0;
      if (high !== 0) this.#insert(before[at] ?? 0, high);
    }
  }
}

function mix(state: number, factor: number): number {
  const product = Math.imul(state, factor);
  return product ^ (product >>> 15);
}

/** Spreads every bit over the word (the finaliser of MurmurHash3). */
function finish(state: number): number {
  const once = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return (twice ^ (twice >>> 16)) >>> 0;
}
