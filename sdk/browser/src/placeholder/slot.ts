import { styleRoot, toDom } from '../../../banner/dom.js';
import {
  PLACEHOLDER_CONTROLS,
  type PlaceholderState,
  placeholderLayer,
  placeholderStyle,
} from '../../../banner/placeholder-layer.js';
import type { KnownCategory, KnownService } from '../../../core/answers.js';
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
  /** Called after the visitor permitted the content. */
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

  /** @param about the element with `data-consent` or `data-consent-service`, and `title` or `alt` */
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
    const asked = askedFor(this.#consent, this.#about);
    this.#host.hidden = asked === null;
    if (configuration === null || asked === null) return;
    const view = viewOf(configuration);
    const state = this.#state(asked);
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

  #state(asked: Asked): PlaceholderState {
    const { dataset, title } = this.#about;
    const { consentSrc = '', consentRecipient, consentImage, consentOnce = this.#options.consentOnce } = dataset;
    const host = hostOf(consentSrc);
    const hasSettings = document.querySelector('consent-banner') !== null;
    return {
      title: title || this.#about.getAttribute('alt') || this.#about.ariaLabel || host,
      recipient: consentRecipient || [...new Set(asked.services.map((one) => one.recipient))].join(', ') || host,
      ...asked,
      image: consentImage,
      canLoadOnce: String(consentOnce ?? true) !== 'false',
      permitting: this.#consent.state.status === 'chosen' ? 'counts' : hasSettings ? 'asks' : 'nowhere',
    };
  }

  /** @returns whether the content is permitted now */
  #allow(): boolean {
    const asked = askedFor(this.#consent, this.#about);
    const { status, choice, configuration } = this.#consent.state;
    if (asked === null) return false;
    if (status !== 'chosen' || choice === null) {
      // The question is open. The button opens the settings, in which the visitor answers the whole question and saves.
      setTimeout(() => tick(asked));
      return false;
    }
    const categories = { ...choice.categories };
    const services = { ...choice.services };
    for (const { key, services: all = [] } of configuration?.categories ?? []) {
      const isAsked = asked.categories.some((one) => one.key === key);
      if (isAsked) categories[key] = true;
      // It follows its services.
      else if (all.some((one) => asked.services.includes(one))) delete categories[key];
      for (const one of all) if (isAsked || asked.services.includes(one)) services[one.key] = true;
    }
    this.#consent.choose(categories, this.#presentation(), services);
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

/** What content needs that the visitor does not permit: categories, or services that have switches of their own. */
export interface Asked {
  readonly categories: readonly KnownCategory[];
  readonly services: readonly KnownService[];
}

/**
 * What content needs and the visitor does not permit. Null if that is nothing, if nothing can be asked now, or if the site
 * has no such category or service, as on a page with a test key: nobody could say what loading it means.
 * @param about the element with `data-consent` or `data-consent-service`
 */
export function askedFor(consent: PublicConsent, { dataset }: HTMLElement): Asked | null {
  const { configuration, status } = consent.state;
  if (configuration === null || status === 'loading' || status === 'unavailable') return null;
  const { consent: named = '', consentService: services } = dataset;
  const isService = services !== undefined;
  const rule = isService ? 'allowsService' : 'allows';
  const { categories, service_switches } = configuration;
  const keys = (services ?? named).match(/\S+/g) ?? [];
  const missing = keys.filter((key) => !consent[rule](key));
  const isKnown = (key: string, among: readonly KnownCategory[] = categories): boolean =>
    among.some((one) => (isService ? one.services?.some((service) => service.key === key) : one.key === key));
  if (missing.length === 0 || !keys.every((key) => isKnown(key))) return null;
  const needed = categories.filter((one) => missing.some((key) => isKnown(key, [one])));
  return isService && service_switches
    ? {
        categories: [],
        services: needed.flatMap((one) => (one.services ?? []).filter(({ key }) => missing.includes(key))),
      }
    : { categories: needed, services: [] };
}

/** Ticks categories or services in the open settings, because the visitor pressed the button that names them. */
function tick({ categories, services }: Asked): void {
  const dialog = document.querySelector('consent-banner')?.shadowRoot?.querySelector('dialog.settings[open]');
  const wanted = [...categories.map(({ key }) => `[name="${key}"]`), ...services.map(({ key }) => `[value="${key}"]`)];
  const boxes = wanted.flatMap((selector) => dialog?.querySelector<HTMLInputElement>(`input${selector}`) ?? []);
  // A press, so that the switches of a category and of its services stay in agreement.
  for (const box of boxes) if (!box.checked) box.click();
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
