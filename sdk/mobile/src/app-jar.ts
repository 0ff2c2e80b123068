import { isText, listOf } from '../../core/guards.js';
import type { Jar, Store } from '../../core/ports.js';

/** Texts in the store of an app, in place of the cookies of a browser. */
export class AppJar implements Jar {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  read(name: string): readonly string[] {
    return this.#store.read(`kept:${name}`, listOf(isText)) ?? [];
  }

  keep(name: string, text: string): boolean {
    return this.#store.write(`kept:${name}`, [text]);
  }
}
