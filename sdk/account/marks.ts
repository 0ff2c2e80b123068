import { hashOf } from '../core/asked.js';
import type { Kept } from '../core/choice.js';
import { isText, listOf } from '../core/guards.js';
import type { Store } from '../core/ports.js';
import { refusedHere } from './both.js';

/** Name in the store of the device. */
const SEEN = 'seen';
const MOST_SEEN = 8;
/** The person was told, or took an opt-out back here. Without a kind, the person decided the whole choice here. */
export const TOLD = 'told';
export const TAKEN_BACK = 'back';
export type MarkKind = typeof TOLD | typeof TAKEN_BACK;

/**
 * Marks on a device: which choices of accounts are known to apply beside the device's own, so that each is told once. A
 * mark says nothing to whoever does not know the token of the record, which a shared device does not keep.
 */
export class Marks {
  readonly #store: Store;
  readonly #signal: () => boolean;

  /** @param signal whether the browser sends Global Privacy Control: what applies depends on it */
  constructor(store: Store, signal: () => boolean) {
    this.#store = store;
    this.#signal = signal;
  }

  has(account: Kept, device: Kept | null, kind?: MarkKind): boolean {
    return this.#all().includes(this.#mark(account, device, kind));
  }

  add(account: Kept, device: Kept | null, kind?: MarkKind): void {
    const mark = this.#mark(account, device, kind);
    this.#store.write(SEEN, [mark, ...this.#all().filter((one) => one !== mark)].slice(0, MOST_SEEN));
  }

  #all(): readonly string[] {
    return this.#store.read(SEEN, listOf(isText)) ?? [];
  }

  #mark(account: Kept, device: Kept | null, kind: MarkKind | undefined): string {
    // Who was told has not decided on what the device says no to.
    const stated = kind === TOLD && refusedHere(device, account) === '' ? undefined : kind;
    const text = [account.consent_token, device?.at, this.#signal(), stated].join(' ');
    // 64 bits tell one person's records apart, and WebCrypto would be asynchronous.
    return hashOf(text) + hashOf(text, 2);
  }
}
