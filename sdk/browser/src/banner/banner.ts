import { button, labelOf } from '../../../banner/controls.js';
import { styleRoot, toDom } from '../../../banner/dom.js';
import { draw } from '../../../banner/drawn.js';
import { firstLayer } from '../../../banner/first-layer.js';
import { settingsLayer } from '../../../banner/settings-layer.js';
import { bannerStyle } from '../../../banner/style.js';
import type { BannerView } from '../../../banner/view.js';
import type { ConsentSource, ConsentState } from '../../../core/consent.js';
import type { Presentation } from '../../../core/consent-body.js';
import type { ServiceError } from '../../../shared/service-error.js';
import { viewOf } from './banner-view.js';
import { PageRoom } from './page-room.js';
import { fillPolicy } from './policy-text.js';
import { presentationOf, type ShownLayer } from './presentation.js';

/** Milliseconds for which the confirmation of a choice is seen. */
const SAID_MS = 5_000;

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
export function showBanner(consent: ConsentSource, options: BannerOptions = {}): Banner {
  return new ShownBanner(consent, options);
}

class ShownBanner implements Banner {
  readonly #consent: ConsentSource;
  readonly #nonce: string | undefined;
  readonly #host = document.createElement('consent-banner');
  readonly #root = this.#host.attachShadow({ mode: 'open' });
  readonly #said = toDom(draw('p', { role: 'status', class: 'said' }));
  readonly #room = new PageRoom();
  readonly #ended = new AbortController();
  // In a task of its own: a page that removes the banner again and again must not hang.
  readonly #removed = new MutationObserver(() => setTimeout(() => this.#mount()));
  readonly #resized: ResizeObserver;
  readonly #settingsButton: boolean;
  #style = '';
  /** The question. */
  #first: HTMLElement | null = null;
  #settings: HTMLElement | null = null;
  #open: HTMLElement | null = null;
  /** The layers that are shown, the one in front last. */
  #asked: ShownLayer | null = null;
  #refined: ShownLayer | null = null;
  #shown: unknown;
  #hiding: ReturnType<typeof setTimeout> | undefined;

  constructor(consent: ConsentSource, { nonce, settingsButton }: BannerOptions) {
    this.#consent = consent;
    this.#nonce = nonce;
    this.#settingsButton = settingsButton ?? document.querySelector('[data-consent-settings]') === null;
    this.#root.append(this.#said);
    this.#resized = new ResizeObserver(() => this.#keepRoom());
    this.#mount();
    const { signal } = this.#ended;
    document.addEventListener('click', (event) => this.#onPageClick(event), { signal });
    this.#root.addEventListener('click', ({ target }) => this.#onClick(target));
    this.#root.addEventListener('change', ({ target }) => this.#onChange(target));
    signal.addEventListener(
      'abort',
      consent.subscribe((state) => this.#render(state)),
    );
  }

  async openSettings(): Promise<void> {
    const { configuration, status } = this.#consent.state;
    if (configuration === null || status === 'unavailable') return;
    // The texts may be in the language of the choice. Offline, the settings open in it.
    if (status === 'chosen') await this.#consent.setLanguage().catch(() => undefined);
    this.#openSettings();
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
    for (const dialog of [this.#first, this.#settings]) {
      if (!isDialog(dialog) || !dialog.open) continue;
      dialog.close();
      dialog.showModal();
    }
  }

  #onPageClick(event: Event): void {
    // The path goes through shadow roots.
    const isOpener = (node: EventTarget): boolean => node instanceof Element && node.matches('[data-consent-settings]');
    if (!event.composedPath().some(isOpener)) return;
    event.preventDefault();
    this.openSettings();
  }

  /** Does what the pressed control is for, which its part says. */
  #onClick(target: EventTarget | null): void {
    const pressed = target instanceof Element ? target.closest('button') : null;
    if (pressed === null) return;
    const part = pressed.getAttribute('part');
    const shown = this.#settings?.contains(pressed) ? this.#refined : this.#asked;
    if (pressed === this.#open) this.openSettings();
    else if (part === 'settings') this.#openSettings();
    else if (part === 'policy') this.#openSettings(true);
    else if (part === 'close') this.#close();
    else if (shown !== null && part !== null && this.#record(part, presentationOf(shown, part))) this.#confirm();
  }

  /** @returns whether the control decides anything */
  #record(part: string, presentation: Presentation): boolean {
    if (part === 'accept') this.#consent.acceptAll(presentation);
    else if (part === 'reject') this.#consent.rejectAll(presentation);
    else if (part === 'save') this.#consent.choose(this.#ticked(), presentation);
    else return false;
    return true;
  }

  #onChange(target: EventTarget | null): void {
    if (!(target instanceof HTMLSelectElement)) return;
    const isInSettings = this.#settings?.contains(target) === true;
    this.#consent.setLanguage(target.value).then(
      () => {
        if (!isInSettings) return;
        this.#openSettings(false, this.#ticked());
        this.#settings?.querySelector('select')?.focus();
      },
      ({ message }: ServiceError) => console.error(message),
    );
  }

  #render({ status, configuration }: ConsentState): void {
    if (configuration === null) return;
    const shown = `${status} ${configuration.language} ${JSON.stringify(configuration.appearance)}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const view = viewOf(configuration);
    const style = bannerStyle(view.appearance);
    if (style !== this.#style) styleRoot(this.#root, style, this.#nonce);
    this.#style = style;
    this.#renderFirst(status === 'needed' ? view : null);
    this.#renderOpener(status === 'chosen' || status === 'signalled' || this.#isLeft() ? view : null);
  }

  #renderFirst(view: BannerView | null): void {
    const hadFocus = this.#first?.contains(this.#root.activeElement) ?? false;
    const isLeft = this.#isLeft();
    this.#first?.remove();
    this.#resized.disconnect();
    this.#first = view && toDom(firstLayer(view));
    // The language can be changed while the banner is shown: the time counts from the first one.
    this.#asked = view && this.#layer('first', view, this.#asked?.since);
    if (view !== null && this.#first !== null) {
      this.#root.append(this.#first);
      if (isDialog(this.#first)) {
        this.#first.addEventListener('close', () => this.#isLeft() && this.#renderOpener(view));
        // It stays closed also in another language.
        if (!isLeft) {
          this.#mount();
          this.#first.showModal();
          this.#first.querySelector('h2')?.focus();
        }
      } else {
        // It takes no focus, so that the page can be read; a screen reader announces it.
        this.#say(this.#first.querySelector('h2')?.textContent ?? '', view.language, false);
      }
      this.#resized.observe(this.#first);
      // The element that had the focus was replaced, for example the choice of the language.
      if (hadFocus) (this.#first.querySelector('select') ?? this.#first.querySelector('button'))?.focus();
    }
    this.#keepRoom();
  }

  /** Whether the visitor left the choice for the next page by Escape: nothing optional is permitted until then. */
  #isLeft(): boolean {
    return isDialog(this.#first) && !this.#first.open;
  }

  #renderOpener(view: BannerView | null): void {
    this.#open?.remove();
    this.#open = null;
    if (view === null || !this.#settingsButton) return;
    const opener = button(view, 'settings', `open ${view.appearance.side}`);
    this.#open = toDom({ ...opener, attributes: { ...opener.attributes, dir: view.direction } });
    this.#root.append(this.#open);
  }

  /**
   * @param isPolicyOpen whether the text of the policy is unfolded
   * @param ticked categories that are ticked: by default, those of an earlier choice, and nothing else
   */
  #openSettings(isPolicyOpen = false, ticked = this.#consent.state.choice?.categories ?? {}): void {
    const { configuration } = this.#consent.state;
    // The texts may arrive after the page has taken the banner off.
    if (configuration === null || this.#ended.signal.aborted) return;
    // Closed, so that the next one knows what had the focus before the settings.
    this.#close();
    this.#settings?.remove();
    const view = viewOf(configuration);
    const dialog = toDom(settingsLayer(view, { ticked, proofPage: this.#consent.proofPage }));
    this.#settings = dialog;
    this.#refined = this.#layer('settings', view);
    fillPolicy(this.#consent, dialog);
    this.#root.append(dialog);
    this.#mount();
    if (isDialog(dialog)) {
      dialog.showModal();
      dialog.addEventListener('close', () => this.#keepFocus(dialog));
    }
    const policy = dialog.querySelector<HTMLDetailsElement>('.policy');
    if (!isPolicyOpen || policy === null) return;
    policy.open = true;
    policy.querySelector('summary')?.focus();
  }

  /** Gives the focus to what opens the settings, if the element that had it was replaced meanwhile. */
  #keepFocus(closed: HTMLElement): void {
    const focused = this.#root.activeElement ?? document.activeElement;
    const isLost = focused === null || focused === document.body || closed.contains(focused);
    if (closed !== this.#settings || !isLost) return;
    (this.#open ?? this.#first?.querySelector<HTMLElement>('[part=settings]'))?.focus();
  }

  #layer(layer: ShownLayer['layer'], view: BannerView, since = performance.now()): ShownLayer {
    const { state, isGpcOn } = this.#consent;
    return {
      layer,
      view,
      isThemed: state.configuration?.appearance === view.appearance,
      preselected: layer === 'settings' && state.choice !== null ? 'earlier' : isGpcOn ? 'gpc' : 'nothing',
      since,
    };
  }

  #ticked(): Record<string, boolean> {
    const boxes = this.#settings?.querySelectorAll('input') ?? [];
    return Object.fromEntries([...boxes].map(({ name, checked }) => [name, checked]));
  }

  #close(): void {
    if (isDialog(this.#settings)) this.#settings.close();
  }

  /** Says that the choice counts, which it does at once. */
  #confirm(): void {
    this.#close();
    const { configuration } = this.#consent.state;
    if (configuration !== null) {
      const { text, language } = labelOf(viewOf(configuration), 'saved');
      this.#say(text, language, true);
    }
    this.#open?.focus();
  }

  #say(text: string, language: string, isSeen: boolean): void {
    this.#said.lang = language;
    this.#said.textContent = text;
    this.#said.classList.toggle('seen', isSeen);
    // The time of an earlier confirmation must not end this one.
    clearTimeout(this.#hiding);
    if (isSeen) this.#hiding = setTimeout(() => this.#said.classList.remove('seen'), SAID_MS);
  }

  #keepRoom(): void {
    const first = isDialog(this.#first) ? null : this.#first;
    const isFixed = first !== null && getComputedStyle(first).position === 'fixed';
    this.#room.keep(isFixed ? Math.ceil(first.getBoundingClientRect().height) : 0);
  }
}

/** A dialog that the browser opens above the page, with everything else out of reach. */
function isDialog(node: HTMLElement | null): node is HTMLDialogElement {
  return node instanceof HTMLDialogElement;
}
