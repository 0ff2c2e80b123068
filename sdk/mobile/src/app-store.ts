import { type Guard, isText, nullable, parseJson, recordOf } from '../../core/guards.js';
import type { Store } from '../../core/ports.js';
import { inTime } from './in-time.js';
import type { AppStorage } from './storage.js';

const PREFIX = '_svc_consent:';
/** How long the storage of a device may take for one answer, in milliseconds. */
const LONGEST_WAIT_MS = 5_000;

/**
 * Name of the journal of changes in progress. If the app ends before they are written, its next start completes them.
 */
const JOURNAL = 'journal';
const isJournal = recordOf(nullable(isText));

/**
 * Values that an app keeps. It reads the storage once, when the app starts, and then holds everything in memory.
 * Changes of one turn are stored together or not at all, even if the app is ended meanwhile, so a choice never comes
 * back without its place in the queue.
 */
export class AppStore implements Store {
  readonly #storage: AppStorage;
  readonly #texts = new Map<string, string>();
  /** Changes that are not written yet; null stands for a removed value. */
  #changes = new Map<string, string | null>();
  #writes: Promise<void> = Promise.resolve();
  #isFailing = false;
  /** Whether the storage once failed to answer. From then on, everything is only in memory. */
  #isHanging = false;
  readonly #onHang: () => void;

  /** @param onHang called once, if the storage fails to answer */
  constructor(storage: AppStorage, onHang: () => void = () => undefined) {
    this.#storage = storage;
    this.#onHang = onHang;
  }

  /** Reads what earlier runs of the app kept. What this run wrote is newer. */
  async load(): Promise<void> {
    try {
      const names = (await this.#inTime(() => this.#storage.keys())).filter((name) => name.startsWith(PREFIX));
      const texts = await Promise.all(names.map((name) => this.#textOf(name)));
      const kept = new Map(names.map((name, i) => [name.slice(PREFIX.length), texts[i] ?? null]));
      const unfinished = Object.entries(parseJson(kept.get(JOURNAL) ?? 'null', isJournal) ?? {});
      kept.delete(JOURNAL);
      const written = new Set(this.#texts.keys());
      for (const [name, text] of [...kept, ...unfinished]) {
        if (written.has(name)) continue;
        if (text === null) this.#texts.delete(name);
        else this.#texts.set(name, text);
      }
      for (const [name, text] of unfinished) if (!written.has(name)) this.#change(name, text);
    } catch {
      this.#isFailing = true;
    }
  }

  read<T>(name: string, guard: Guard<T>): T | undefined {
    return parseJson(this.#texts.get(name) ?? 'null', guard);
  }

  /** @returns false if the storage refused the last write that it answered */
  write(name: string, value: object | string | number): boolean {
    const text = JSON.stringify(value);
    this.#texts.set(name, text);
    this.#change(name, text);
    return !this.#isFailing;
  }

  remove(name: string): void {
    this.#texts.delete(name);
    this.#change(name, null);
  }

  names(prefix: string): readonly string[] {
    return [...this.#texts.keys()].filter((name) => name.startsWith(prefix)).sort();
  }

  /** Resolves when the storage has answered all writes so far. */
  settled(): Promise<void> {
    return this.#writes;
  }

  #change(name: string, text: string | null): void {
    if (this.#changes.size === 0)
      this.#writes = this.#writes
        .then(() => this.#flush())
        .then((isFailing) => {
          this.#isFailing = isFailing;
        });
    this.#changes.set(name, text);
  }

  /**
   * A value that the device cannot read, such as one of more than 2 MB on Android, must not hide the others.
   * @throws the error of the storage for the journal: without it, the others may be half of a change
   */
  async #textOf(name: string): Promise<string | null> {
    try {
      return await this.#inTime(() => this.#storage.get(name));
    } catch (error) {
      if (name === PREFIX + JOURNAL) throw error;
      this.#isFailing = true;
      return null;
    }
  }

  /** @throws the error of the storage; Error if it does not answer, or did not before */
  async #inTime<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#isHanging) throw new Error('the storage does not answer');
    let isAnswered = false;
    try {
      const answer = ask().finally(() => {
        isAnswered = true;
      });
      return await inTime(answer, LONGEST_WAIT_MS);
    } catch (error) {
      if (!isAnswered && !this.#isHanging) {
        this.#isHanging = true;
        this.#onHang();
      }
      throw error;
    }
  }

  /** @returns whether the storage refused something */
  async #flush(): Promise<boolean> {
    const changes = this.#changes;
    this.#changes = new Map();
    if (changes.size === 1) return this.#writeAll(changes);
    const journal = JSON.stringify(Object.fromEntries(changes));
    const isFailing = await this.#writeAll([[JOURNAL, journal], ...changes]);
    return (await this.#writeAll([[JOURNAL, null]])) || isFailing;
  }

  /** @returns whether the storage refused one of them; the others are written nevertheless */
  async #writeAll(changes: Iterable<readonly [string, string | null]>): Promise<boolean> {
    let isFailing = false;
    for (const [name, text] of changes) {
      try {
        await this.#inTime(() =>
          text === null ? this.#storage.remove(PREFIX + name) : this.#storage.set(PREFIX + name, text),
        );
      } catch {
        isFailing = true;
        // The next start must not find an older value, for example a permission before a refusal.
        await this.#inTime(() => this.#storage.remove(PREFIX + name)).catch(() => undefined);
      }
    }
    return isFailing;
  }
}
