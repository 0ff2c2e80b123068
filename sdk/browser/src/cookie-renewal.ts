import { isNumber } from '../../core/guards.js';
import type { Renewal, Store } from '../../core/ports.js';

const RENEWED = 'renewed';
const DAY_MS = 86_400_000;

/**
 * Lets the site's own server set the cookies again: browsers may keep those of scripts for seven days
 * only.
 */
export class CookieRenewal implements Renewal {
  readonly #url: string;
  readonly #store: Store;
  #attempt = new AbortController();

  readonly #hasCome: () => boolean;

  /**
   * @param url path of the site's own server
   * @param hasCome whether the browser accepted the cookies of the last response, which only a cookie shows
   */
  constructor(url: string, store: Store, hasCome: () => boolean) {
    this.#url = url;
    this.#store = store;
    this.#hasCome = hasCome;
  }

  renew(isDaily: boolean, onEnd: () => void): void {
    // A clock that was set back makes the difference negative.
    if (isDaily && Math.abs(Date.now() - (this.#store.read(RENEWED, isNumber) ?? 0)) <= DAY_MS) return;
    this.#attempt = new AbortController();
    fetch(this.#url, { method: 'POST', signal: this.#attempt.signal })
      .then(() => this.#hasCome() && this.#store.write(RENEWED, Date.now()))
      .catch(() => undefined)
      .then(onEnd);
  }

  cancel(): void {
    this.#attempt.abort();
  }
}
