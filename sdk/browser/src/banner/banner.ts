import type { ServiceError } from '../../../shared/service-error.js';
import type { Consent, ConsentState } from '../consent.js';
import { element } from './element.js';
import { presentationOf, type ShownLayer } from './presentation.js';
import { BannerTexts, settingsDialog, type BannerTexts as Texts } from './settings-dialog.js';
import { BANNER_STYLE } from './style.js';
import { PageRoom, styleRoot } from './style-sheet.js';

export interface BannerOptions {
  /** Nonce of the page's content security policy, for browsers without constructed style sheets. */
  readonly nonce?: string | undefined;
  /**
   * Whether a button at the edge of the page opens the settings. If absent: only if the page has no
   * element with `data-consent-settings`, which then opens them.
   */
  readonly settingsButton?: boolean | undefined;
}

/** A banner that was put on a page. */
export interface Banner {
  /** Opens the settings, in which the visitor changes or withdraws the choice. */
  openSettings(): Promise<void>;
  /** Takes the banner off the page. */
  remove(): void;
}

/**
 * Shows the banner while a choice is needed, and opens the settings from every element with
 * `data-consent-settings`. It lives in an open shadow root, so that styles of the page and of the
 * banner do not change each other.
 * @param consent started by the caller
 */
export function showBanner(consent: Consent, options: BannerOptions = {}): Banner {
  return new ShownBanner(consent, options);
}

class ShownBanner implements Banner {
  readonly #consent: Consent;
  readonly #host = document.createElement('consent-banner');
  readonly #root = this.#host.attachShadow({ mode: 'open' });
  readonly #said = element('p', { role: 'status', class: 'said' });
  readonly #room = new PageRoom();
  readonly #ended = new AbortController();
  // In a task of its own: a page that removes the banner again and again must not hang.
  readonly #removed = new MutationObserver(() => setTimeout(() => this.#mount()));
  readonly #resized: ResizeObserver;
  readonly #settingsButton: boolean;
  #section: HTMLElement | null = null;
  #dialog: HTMLDialogElement | null = null;
  #open: HTMLButtonElement | null = null;
  #first: ShownLayer | null = null;
  #shown: unknown;

  constructor(consent: Consent, { nonce, settingsButton }: BannerOptions) {
    this.#consent = consent;
    this.#settingsButton = settingsButton ?? document.querySelector('[data-consent-settings]') === null;
    styleRoot(this.#root, BANNER_STYLE, nonce);
    this.#root.append(this.#said);
    this.#resized = new ResizeObserver(() => this.#keepRoom());
    this.#mount();
    document.addEventListener('click', (event) => this.#onClick(event), { signal: this.#ended.signal });
    this.#ended.signal.addEventListener(
      'abort',
      consent.subscribe((state) => this.#render(state)),
    );
  }

  async openSettings(): Promise<void> {
    const { configuration, status } = this.#consent.state;
    if (configuration === null || status === 'unavailable') return;
    // The texts may be in the language of the choice. Offline, the settings open in it.
    if (status === 'chosen') await this.#consent.setLanguage().catch(() => undefined);
    this.#openDialog();
  }

  remove(): void {
    this.#ended.abort();
    this.#removed.disconnect();
    this.#resized.disconnect();
    this.#room.keep(0);
    this.#host.remove();
  }

  /**
   * Puts the banner on the page, also again: beside the body, because pages replace the body and what it
   * contains; in front of it, so that the first press of Tab reaches the banner.
   */
  #mount(): void {
    if (this.#host.isConnected || this.#ended.signal.aborted) return;
    document.documentElement.insertBefore(this.#host, document.body);
    this.#removed.observe(document, { childList: true });
    this.#removed.observe(document.documentElement, { childList: true });
    if (this.#dialog?.open === true) {
      this.#dialog.close();
      this.#dialog.showModal();
    }
  }

  #onClick(event: Event): void {
    // The path goes through shadow roots.
    const isOpener = (node: EventTarget): boolean => node instanceof Element && node.matches('[data-consent-settings]');
    if (!event.composedPath().some(isOpener)) return;
    event.preventDefault();
    this.openSettings();
  }

  #render({ status, configuration }: ConsentState): void {
    if (configuration === null) return;
    const shown = `${status} ${configuration.language}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const texts = new BannerTexts(configuration);
    this.#renderSection(status === 'needed' ? this.#makeSection(texts) : null);
    this.#renderOpener(status === 'chosen' || status === 'signalled' ? texts : null);
  }

  #renderSection(section: HTMLElement | null): void {
    const hadFocus = this.#section?.contains(this.#root.activeElement) ?? false;
    this.#section?.remove();
    this.#resized.disconnect();
    this.#section = section;
    if (section === null) this.#first = null;
    if (section !== null) {
      this.#root.append(section);
      // It takes no focus, so that the page can be read; a screen reader announces it.
      this.#said.lang = section.lang;
      this.#said.textContent = section.querySelector('h2')?.textContent ?? '';
      this.#resized.observe(section);
      // The element that had the focus was replaced, for example the choice of the language.
      if (hadFocus) (section.querySelector('select') ?? section.querySelector('button'))?.focus();
    }
    this.#keepRoom();
  }

  #makeSection(texts: Texts): HTMLElement {
    const { banner, language: lang, direction: dir } = texts.configuration;
    // The language can be changed while the banner is shown: the time counts from the first one.
    const first = this.#layer('first', lang, this.#first?.since);
    this.#first = first;
    return element(
      'section',
      { 'aria-labelledby': 'banner-title', part: 'banner', lang, dir },
      element(
        'div',
        { class: 'row head' },
        element('h2', { id: 'banner-title' }, texts.title()),
        element('div', {}, ...texts.languageChoice((language) => this.#setLanguage(language))),
      ),
      element('p', {}, banner.text ?? ''),
      element(
        'div',
        { class: 'row' },
        ...this.#choiceButtons(texts, first),
        texts.button('settings', '', () => this.#openDialog()),
      ),
    );
  }

  #renderOpener(texts: Texts | null): void {
    this.#open?.remove();
    this.#open = null;
    if (texts === null || !this.#settingsButton) return;
    this.#open = texts.button('settings', 'open', () => {
      this.openSettings();
    });
    this.#open.dir = texts.configuration.direction;
    this.#root.append(this.#open);
  }

  #openDialog(): void {
    const { configuration } = this.#consent.state;
    if (configuration === null) return;
    this.#dialog?.remove();
    const texts = new BannerTexts(configuration);
    const layer = this.#layer('settings', configuration.language);
    const dialog = settingsDialog(this.#consent, texts, {
      choose: (chosen) => this.#choose(() => this.#consent.choose(chosen, presentationOf(layer, 'save'))),
      choiceButtons: this.#choiceButtons(texts, layer),
      setLanguage: (language) => this.#setLanguage(language, () => this.#openDialog()),
    });
    this.#dialog = dialog;
    this.#root.append(dialog);
    this.#mount();
    dialog.showModal();
  }

  #layer(layer: ShownLayer['layer'], language: string, since = performance.now()): ShownLayer {
    const { state, isGpcOn } = this.#consent;
    return {
      layer,
      language,
      controls: layer === 'first' ? ['accept', 'reject', 'settings'] : ['save', 'accept', 'reject'],
      preselected: layer === 'settings' && state.choice !== null ? 'earlier' : isGpcOn ? 'gpc' : 'nothing',
      since,
    };
  }

  /** Accepting and refusing take one press each, in the banner and in the settings. */
  #choiceButtons(texts: Texts, layer: ShownLayer): readonly HTMLButtonElement[] {
    return [
      texts.button('accept', 'choice', () =>
        this.#choose(() => this.#consent.acceptAll(presentationOf(layer, 'accept'))),
      ),
      texts.button('reject', 'choice', () =>
        this.#choose(() => this.#consent.rejectAll(presentationOf(layer, 'reject'))),
      ),
    ];
  }

  #choose(record: () => Promise<unknown>): void {
    record();
    this.#dialog?.close();
    const { configuration } = this.#consent.state;
    if (configuration !== null) this.#say(new BannerTexts(configuration));
    this.#open?.focus();
  }

  #say(texts: Texts): void {
    const { text, language } = texts.label('saved');
    this.#said.lang = language;
    this.#said.textContent = text;
  }

  #setLanguage(language: string, then: () => void = () => undefined): void {
    this.#consent.setLanguage(language).then(then, ({ message }: ServiceError) => console.error(message));
  }

  #keepRoom(): void {
    const isFixed = this.#section !== null && getComputedStyle(this.#section).position === 'fixed';
    this.#room.keep(isFixed ? Math.ceil(this.#section?.getBoundingClientRect().height ?? 0) : 0);
  }
}
