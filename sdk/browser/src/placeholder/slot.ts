import { styleRoot, toDom } from '../../../banner/dom.js';
import {
  PLACEHOLDER_CONTROLS,
  type PlaceholderState,
  placeholderLayer,
  placeholderStyle,
} from '../../../banner/placeholder-layer.js';
import type { KnownCategory } from '../../../core/answers.js';
import type { Presentation } from '../../../core/consent-body.js';
import { schemeOf, viewOf } from '../banner/banner-view.js';
import { SDK } from '../banner/presentation.js';
import type { PublicConsent } from './once.js';

/** Milliseconds in a day, the longest time that a record states. */
const DAY_MS = 86_400_000;

export interface SlotOptions {
  /** Nonce of the page's content security policy, for browsers without constructed style sheets. */
  readonly nonce?: string | undefined;
  /** Whether embedded content can be loaded once. `false` or `"false"` means that it cannot. */
  readonly consentOnce?: boolean | string | undefined;
}

/** What the visitor can do in a placeholder. */
export interface SlotActions {
  /** Loads the content of this placeholder alone. */
  readonly loadOnce: () => void;
  /** Called after the visitor permitted the categories. */
  readonly onAllowed: () => void;
}

/** One placeholder: a host on the page, and the attributes that describe the waiting element. */
export class Slot {
  readonly #consent: PublicConsent;
  readonly #host: HTMLElement;
  readonly #about: HTMLElement;
  readonly #options: SlotOptions;
  readonly #root: ShadowRoot;
  readonly #actions: SlotActions;
  readonly #since = performance.now();
  #drawn = '';
  #style = '';

  /** @param about the element with `data-consent`, and `title` or `alt` */
  constructor(
    consent: PublicConsent,
    host: HTMLElement,
    about: HTMLElement,
    options: SlotOptions,
    actions: SlotActions,
  ) {
    this.#consent = consent;
    this.#host = host;
    this.#about = about;
    this.#options = options;
    // In strict mode, React adds and removes effects twice.
    this.#root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    this.#root.replaceChildren();
    this.#actions = actions;
  }

  /** Draws what has changed since the last time. The host is hidden as long as there is nothing to ask. */
  draw(): void {
    const { configuration } = this.#consent.state;
    const categories = askedFor(this.#consent, this.#about);
    this.#host.hidden = categories.length === 0;
    if (configuration === null || this.#host.hidden) return;
    const view = viewOf(configuration);
    const state = this.#state(categories);
    const drawn = JSON.stringify([configuration.language, configuration.labels, state]);
    const style = placeholderStyle(view.appearance, schemeOf(view.appearance));
    if (style !== this.#style) styleRoot(this.#root, style, this.#options.nonce);
    this.#style = style;
    if (drawn === this.#drawn) return;
    const focused = this.#root.activeElement?.getAttribute('part');
    this.#root.querySelector('.frame')?.remove();
    const frame = toDom(placeholderLayer(view, state));
    frame.addEventListener('click', ({ target }) => this.#onClick(target));
    this.#root.append(frame);
    this.#drawn = drawn;
    if (focused != null) this.#root.querySelector<HTMLElement>(`[part=${focused}]`)?.focus();
  }

  #onClick(target: EventTarget | null): void {
    const part = target instanceof Element ? target.closest('button')?.getAttribute('part') : null;
    if (part === 'load-once') this.#actions.loadOnce();
    if (part === 'allow-all' && this.#allow()) this.#actions.onAllowed();
  }

  #state(categories: readonly KnownCategory[]): PlaceholderState {
    const { dataset, title } = this.#about;
    const { consentSrc = '', consentRecipient, consentImage, consentOnce = this.#options.consentOnce } = dataset;
    const host = hostOf(consentSrc);
    const hasSettings = document.querySelector('consent-banner') !== null;
    return {
      title: title || this.#about.getAttribute('alt') || this.#about.ariaLabel || host,
      recipient: consentRecipient || host,
      categories,
      image: consentImage,
      canLoadOnce: String(consentOnce ?? true) !== 'false',
      permitting: this.#consent.state.status === 'chosen' ? 'counts' : hasSettings ? 'asks' : 'nowhere',
    };
  }

  /** @returns whether the categories are permitted now */
  #allow(): boolean {
    const keys = askedFor(this.#consent, this.#about).map(({ key }) => key);
    const { status, choice } = this.#consent.state;
    if (status !== 'chosen' || choice === null) {
      // The question is open. The button opens the settings, in which the visitor answers the whole question and saves.
      setTimeout(() => tick(keys));
      return false;
    }
    const added = Object.fromEntries(keys.map((key) => [key, true]));
    this.#consent.choose({ ...choice.categories, ...added }, this.#presentation());
    return true;
  }

  /** States how the visitor was asked, for the record. */
  #presentation(): Presentation {
    const { configuration } = this.#consent.state;
    return {
      layout: 'placeholder',
      layout_version: 1,
      layer: 'placeholder',
      language: configuration?.language ?? '',
      // The answers for the other categories stay.
      preselected: 'earlier',
      controls: [...PLACEHOLDER_CONTROLS],
      control: 'allow_all',
      elapsed_ms: Math.min(DAY_MS, Math.round(performance.now() - this.#since)),
      sdk: SDK,
    };
  }
}

/**
 * The optional categories that content needs and the visitor does not permit. None if nothing can be asked now, or if the
 * site has no such category, as on a page with a test key: nobody could say what loading it means.
 * @param about the element with `data-consent`
 */
export function askedFor(consent: PublicConsent, { dataset }: HTMLElement): readonly KnownCategory[] {
  const { configuration, status } = consent.state;
  const keys = dataset.consent?.match(/\S+/g) ?? [];
  if (configuration === null || status === 'loading' || status === 'unavailable') return [];
  const found = keys.map((key) => configuration.categories.find((category) => category.key === key));
  return found.includes(undefined)
    ? []
    : found.flatMap((one) => (one === undefined || consent.allows(one.key) ? [] : one));
}

/** Ticks categories in the open settings, because the visitor pressed the button that names them. */
function tick(keys: readonly string[]): void {
  const dialog = document.querySelector('consent-banner')?.shadowRoot?.querySelector('dialog.settings[open]');
  const boxes = keys.flatMap((key) => dialog?.querySelector<HTMLInputElement>(`[name="${key}"]`) ?? []);
  for (const box of boxes) box.checked = true;
  boxes[0]?.focus();
}

/** The host of an address, or the text itself if it is not an address. */
function hostOf(address: string): string {
  try {
    return new URL(address, document.baseURI).host;
  } catch {
    return address;
  }
}
