import { isNumber, isText, objectOf } from '../../core/guards.js';
import type { Jar, Store } from '../../core/ports.js';

const DAY_MS = 86_400_000;

interface KeptText {
  readonly text: string;
  /** Unix milliseconds by the clock of the device. */
  readonly until: number;
}
const isKept = objectOf<KeptText>({ text: isText, until: isNumber });

/** Texts in the store of an app that expire, as cookies do in browsers. */
export class AppJar implements Jar {
  readonly #store: Store;
  readonly #clock: () => number;

  constructor(store: Store, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  read(name: string): readonly string[] {
    const kept = this.#store.read(`kept:${name}`, isKept);
    return kept !== undefined && this.#clock() < kept.until ? [kept.text] : [];
  }

  keep(name: string, text: string, days: number): boolean {
    return this.#store.write(`kept:${name}`, { text, until: this.#clock() + days * DAY_MS } satisfies KeptText);
  }
}
