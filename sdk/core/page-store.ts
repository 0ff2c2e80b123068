import { type Guard, parseJson } from './guards.js';
import type { Store } from './ports.js';

const PREFIX = '_svc_consent:';

/** The methods of `localStorage` that the SDK calls. */
export interface TextStorage {
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
  removeItem(name: string): void;
}

/**
 * Values that a browser keeps for the site, each under a name of its own, so that tabs do not
 * overwrite each other's values.
 */
export class PageStore implements Store {
  /** Values that this page wrote, for the lifetime of the page. */
  readonly #memory = new Map<string, string>();
  readonly #storage: () => TextStorage;

  /** @param storage a function that throws if the visitor blocks storage, as reading `localStorage` does */
  constructor(storage: () => TextStorage) {
    this.#storage = storage;
  }

  read<T>(name: string, guard: Guard<T>): T | undefined {
    const stored = this.#try((storage) => storage.getItem(PREFIX + name));
    return parseJson(stored ?? this.#memory.get(name) ?? 'null', guard);
  }

  write(name: string, value: object | string | number): boolean {
    const text = JSON.stringify(value);
    this.#memory.set(name, text);
    const isKept = this.#try((storage) => {
      storage.setItem(PREFIX + name, text);
      return true;
    });
    // The storage is full. An older value would hide the one in memory.
    if (isKept === null) this.#try((storage) => storage.removeItem(PREFIX + name));
    return isKept === true;
  }

  remove(name: string): void {
    this.#memory.delete(name);
    this.#try((storage) => storage.removeItem(PREFIX + name));
  }

  names(prefix: string): readonly string[] {
    const stored = this.#try(Object.keys) ?? [];
    const known = stored.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
    return [...new Set([...known, ...this.#memory.keys()])].filter((name) => name.startsWith(prefix)).sort();
  }

  /** @returns null if the storage throws, as each of its methods can */
  #try<T>(use: (storage: TextStorage) => T): T | null {
    try {
      return use(this.#storage());
    } catch {
      return null;
    }
  }
}
