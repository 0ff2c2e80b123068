import type { Person } from '../core/account.js';
import { type Guard, isText, parseJson } from '../core/guards.js';
import type { Store } from '../core/ports.js';
import { isQueued, QUEUE } from '../core/queue.js';

/** Name of the choice whose consents wait. */
const CHOICE = 'choice';

/** Values for one person. Only what waits for the service is on the device, until it is answered. */
export class AccountStore implements Store {
  readonly #memory = new Map<string, string>();
  readonly #store: Store;
  readonly #prefix: string;
  /** Called with the body of each consent that is added. */
  onAdded: (body: string) => void = () => undefined;

  constructor({ id }: Person, store: Store) {
    this.#store = store;
    // No id is then the beginning of the names of another.
    this.#prefix = `account:${encodeURIComponent(id)}:`;
  }

  /** The choice whose consents wait for the service, if any does. */
  get kept(): string | undefined {
    return this.#waits ? this.#store.read(this.#prefix + CHOICE, isText) : undefined;
  }

  keep(text: string): void {
    this.#memory.set(CHOICE, text);
    if (this.#waits) this.#store.write(this.#prefix + CHOICE, text);
  }

  read<T>(name: string, guard: Guard<T>): T | undefined {
    if (name.startsWith(QUEUE)) return this.#store.read(this.#prefix + name, guard);
    const text = this.#memory.get(name);
    // Without a choice of its own, the account has that of the device.
    return text === undefined ? this.#store.read(name, guard) : parseJson(text, guard);
  }

  write(name: string, value: object | string | number): boolean {
    if (!name.startsWith(QUEUE)) {
      this.#memory.set(name, JSON.stringify(value));
      return true;
    }
    const isKept = this.#store.write(this.#prefix + name, value);
    const choice = this.#memory.get(CHOICE);
    if (choice !== undefined) this.#store.write(this.#prefix + CHOICE, choice);
    if (isQueued(value)) this.onAdded(value.body);
    return isKept;
  }

  remove(name: string): void {
    this.#memory.delete(name);
    if (!name.startsWith(QUEUE)) return;
    this.#store.remove(this.#prefix + name);
    if (!this.#waits) this.#store.remove(this.#prefix + CHOICE);
  }

  names(prefix: string): readonly string[] {
    if (!prefix.startsWith(QUEUE)) return [...this.#memory.keys()].filter((name) => name.startsWith(prefix)).sort();
    return this.#store.names(this.#prefix + prefix).map((name) => name.slice(this.#prefix.length));
  }

  get #waits(): boolean {
    return this.names(QUEUE).length > 0;
  }
}
