import { type Guard, parseJson } from '../../core/guards.js';

const PREFIX = '_svc_consent:';

/**
 * Values that this browser keeps for the site, each under a name of its own, so that tabs do not
 * overwrite each other's values. If storage is blocked or full, the values last as long as the page.
 */
export class BrowserStore {
  readonly #memory = new Map<string, string>();
  readonly #storage = openStorage();

  read<T>(name: string, guard: Guard<T>): T | undefined {
    return parseJson(this.#memory.get(name) ?? this.#storage?.getItem(PREFIX + name) ?? '', guard);
  }

  write(name: string, value: object | string | number): void {
    const text = JSON.stringify(value);
    this.#memory.set(name, text);
    if (this.#storage === null) return;
    try {
      this.#storage.setItem(PREFIX + name, text);
      this.#memory.delete(name);
    } catch {
      // It is full: the value stays in memory.
    }
  }

  remove(name: string): void {
    this.#memory.delete(name);
    this.#storage?.removeItem(PREFIX + name);
  }

  /** Names that begin with a prefix, sorted. */
  names(prefix: string): readonly string[] {
    const stored = Object.keys(this.#storage ?? {})
      .filter((name) => name.startsWith(PREFIX))
      .map((name) => name.slice(PREFIX.length));
    return [...new Set([...stored, ...this.#memory.keys()])].filter((name) => name.startsWith(prefix)).sort();
  }
}

/** Reading the property throws where the visitor blocks storage. */
function openStorage(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}
