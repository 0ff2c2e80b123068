import type { ConsentSource } from '../../core/consent.js';
import type { ConsentState } from '../../core/consent-state.js';

/** The state that a render reads. It stays the same object as long as nothing changes. */
export interface Snapshot {
  readonly state: ConsentState;
  /** Whether the page's own settings are open. */
  readonly isOpen: boolean;
}

/** Before the browser knows more, and on the server: nothing optional is permitted, and nothing is asked. */
export const NOTHING_KNOWN: Snapshot = {
  state: { status: 'loading', configuration: null, choice: null, error: null },
  isOpen: false,
};

/** Draws a banner for a consent. */
export interface DrawnBanner {
  openSettings(): unknown;
  remove(): void;
}

/**
 * The consent of a provider, from its first subscriber on. React removes and re-adds subscribers in strict mode and
 * when a page is restored, so the consent ends a moment after its last subscriber.
 */
export class Session {
  readonly #make: () => ConsentSource;
  readonly #listeners = new Set<() => void>();
  #consent: ConsentSource | null = null;
  #snapshot = NOTHING_KNOWN;
  #unsubscribe: () => void = () => undefined;
  #ending: ReturnType<typeof setTimeout> | undefined;
  #banner: DrawnBanner | null = null;

  /** @param make a function that is only called in the browser or the app */
  constructor(make: () => ConsentSource) {
    this.#make = make;
  }

  /** The consent, made at the first use. */
  get consent(): ConsentSource {
    this.#consent ??= this.#make();
    return this.#consent;
  }

  readonly snapshot = (): Snapshot => this.#snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    clearTimeout(this.#ending);
    if (this.#listeners.size === 0) this.#begin();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#ending = setTimeout(() => this.#end());
    };
  };

  /** Whether a `Banner` of this provider is on the page. */
  get hasBanner(): boolean {
    return this.#banner !== null;
  }

  /** @returns a function that removes the banner from the page */
  show(draw: (consent: ConsentSource) => DrawnBanner): () => void {
    const banner = draw(this.consent);
    this.#banner = banner;
    return () => {
      banner.remove();
      if (this.#banner === banner) this.#banner = null;
    };
  }

  /** Opens the settings of the banner, or else the page's own. */
  openSettings(): void {
    if (this.#banner === null) this.#change({ ...this.#snapshot, isOpen: true });
    else this.#banner.openSettings();
  }

  closeSettings(): void {
    if (this.#snapshot.isOpen) this.#change({ ...this.#snapshot, isOpen: false });
  }

  #begin(): void {
    this.#unsubscribe();
    const { consent } = this;
    this.#unsubscribe = consent.subscribe((state) => {
      if (state !== this.#snapshot.state) this.#change({ ...this.#snapshot, state });
    });
    consent.start();
  }

  #end(): void {
    this.#unsubscribe();
    this.#consent?.stop();
    // A consent that was stopped does not start again.
    this.#consent = null;
  }

  #change(snapshot: Snapshot): void {
    const { isOpen } = this.#snapshot;
    this.#snapshot = snapshot;
    if (snapshot.isOpen !== isOpen) this.consent.showsSettings(snapshot.isOpen);
    for (const listener of [...this.#listeners]) listener();
  }
}
